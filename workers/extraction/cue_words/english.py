"""English cues. STRONG ones name the kind outright, WEAK ones only suggest it."""

from __future__ import annotations

from context_engine.insights import Kind

FRAGMENTS = {
    "name": r"""
        (?-i:(?:(?:Mr|Ms|Mrs|Dr|Prof)\.? )?(?!(?:I|It|He|She|We|They|This|That|The|There|You
            |What|Who|Which|If|But|And|So|Or|Also|Then|Now|Not|No|Yes|My|Our|Your|His|Her|Its
            |Their|Everyone|Everybody|Nobody|Someone|Somebody|People|One|Here|When|While|Ok|OK
            |Okay|Yeah|An|As|At|In|On|To|For|From|With|Please|Still|Just|Why|How|Where|Did|Does
            |Do|Is|Are|Was|Nothing|Everything|Something|Monday|Tuesday|Wednesday|Thursday|Friday
            |Saturday|Sunday)\b)[A-Z][a-z]+(?:-[A-Z][a-z]+)?(?: [A-Z][a-z]+)?)
    """,
    "role": r"""
        (?:person|people|lead|leader|manager|boss|owner|engineer|designer|expert|contact|pm|cto
            |ceo|cfo|admin|maintainer|reviewer|tester|accountant|architect|mentor|doctor|teacher
            |guy|specialist|counterpart|stakeholder|landlord|supervisor)
    """,
    "day": r"""
        (?:mon|tues|wednes|thurs|fri|satur|sun)day
        (?:january|february|march|april|june|july|august|september|october|november|december)
        (?:next|this) (?:week|month|quarter|sprint|year)
    """,
    "choose": r"""
        (?:go with|use|stick (?:with|to)|keep|drop|adopt|skip|switch|standardi[sz]e|stay (?:on
            |with)|leave|avoid|default to|pin|settle on|postpone|defer|replace|not )
    """,
    "adverb": r"""
        (?: (?:really|always|usually|only|never|also|generally|often|strongly|just|still))?
    """,
    "likes": r"""
        (?:prefers|likes|dislikes|hates|loves|wants|expects|insists|cares|appreciates|asks for
            |demands|complains|reads|skips|reports to|is allergic|speaks|answers|responds
            |needs to see|doesn't (?:like|want|read|use|answer)|does not (?:like|want|read)
            |can't stand|won't read)
    """,
    "kin": r"""
        my (?:manager|boss|lead|team lead|colleague|wife|husband|partner|son|daughter|mother
            |father|mom|mum|dad|client|teacher|mentor|doctor|sister|brother|landlord|coach
            |roommate)
    """,
}
"""What a pattern calls by `<name>`."""

STRONG = {
    Kind.DECISION: r"""
        \b(?:decided|agreed|settled|opted) (?:to|on|for|against|not|that|with)\b
        \b(?:i|we)(?:'ve| have)?(?: just| finally| both| all)? (?:chose|chosen|picked|selected
            |adopted|standardi[sz]ed|approved|rejected|ruled out|ditched|scrapped|postponed)\b
        \bdecision(?: is| was)?:
        \b(?:the|our|my|final) (?:decision|verdict|choice) (?:is|was)\b
        \b(?:let's|lets) (?:<choose>(?! \w+in[g'])|do (?!it\b|that\b|this\b|the same\b|so\b)
            |make it )
        \bwe(?:'ll| will|'re going to| are going to) (?:<choose>|move to|only|never|support
            |store|ship|verify|target|round|host|build on|start with|revisit)
        \b(?:going|go|went|sticking|stick|staying|stay) with (?!the flow|that\b|it\b|this\b
            |me\b)
        \b(?:end|ended|ending) up (?:choosing|going|picking|using|buying|switching|staying
            |keeping|dropping|deciding)\b
        \bwe(?:'re| are) (?:staying|sticking|keeping|moving|switching|dropping|migrating
            |standardi[sz]ing|not \w+ing)\b
        \b(?:we|i)(?: will not| won't|'ll not) (?!let\b|forget|lie\b|be able|bother|give up)
        \b\w+ it is(?:[.,!]|$)
        \bchanged my mind\b
        \btake (?:that|it) back\b
        \bscratch that\b
        \b(?:is|are) (?:out|off the table|a no-go|not an option)\b
        \bno \w+(?: \w+)? (?:this time|anymore|for v\d|in v\d|this (?:quarter|year|release))\b
        \b(?:moves|moved|postponed|pushed) to (?:<day>|the \d|\d)
        \bi(?:'d| would) go with\b
        \b(?:changed|switched|moved|migrated) .{2,60} (?:from|to|over to)\s
        \b(?:swapped|replaced) .{2,40} (?:for|with|by)\s
        \b(?:stays|stay|remains) (?:as (?:it is|they are|is)|at|on|with|the same|untouched)\b
        \b(?:can|will|has to) wait (?:until|till|for)\b
        \bthe way to go\b
        \bmake .{2,40} the default\b
        \bmoving (?:forward|ahead) with\b
        \b(?:out of|in) scope\b
        \b(?:deprecating|sunsetting|dropping support)\b
        \bwon't fix\b
        \bgot the green light\b
        \bi(?:'m| am) not \w+ing (?:the|any|it|that)\b
        \b(?:agreed|ok) that (?:we|i)\b
    """,
    Kind.LEARNING: r"""
        \broot cause\b
        \bculprit\b
        \bturn(?:s|ed) out\b
        \bTIL\b
        \bgotcha\b
        \blesson\b
        \b(?:the|actual|real|underlying|main|whole) (?:\w+ )?(?:problem|issue|cause|reason|bug
            |trick|fix|solution|workaround|catch|difference) (?:is|was|were|here)\b
        \b(?:caused|triggered|introduced|broken|fixed|solved|resolved) by\b
        \bdue to\b
        \b(?:i|we)(?: just| finally)? (?:found out|figured|discovered|learned|learnt|reali[sz]ed
            |noticed|measured|traced|tracked)\b
        \bfound (?:it|the (?:bug|problem|cause|issue))\b
        \bjust found out\b
        \bfigured (?:it )?out\b
        \bwhich (?:is|was|explains) why\b
        \bthat(?:'s| is| was) why\b
        \bexplains (?:why|the)\b
        \bit(?:'s| is| was) (?:because|due|caused|down to)\b
        \bit(?:'s| was) [^.:]{2,40}: \w
        \b(?:fixed|solved|sorted) (?:it |this |that )?(?:by|with)\b
        \bfix(?:es|ed) (?:it|that)\b
        \bforgot(?:ten)? to\b
        \bthat was me\b
        \bsomeone (?:had )?(?:added|removed|changed|broke)\b
        \b(?:was|were) (?:missing|stale|outdated|misconfigured|swapped|never (?:set|called|run))
        \b(?:had|has|have) the (?:wrong|old|stale)\b
        \bstill had\b
        \bbrings? it back\b
        \bshowed (?:that |us )?(?:we|it|the)\b
        \bso (?:it was )?(?:the )?\w+ it was\b
        \b(?:drags|pulls) in (?:every|all|the)\b
        \b(?:undocumented|race condition|deadlock|off[- ]by[- ]one|memory leak)\b
        \b(?:profiled|measured|benchmarked|bisected) (?:it|the|this|that|both|all)\b
        \b(?:known (?:bug|issue)|regression in|rate limit(?:ed)?)\b
        \bmakes? (?:that|it|this) go away\b
        \bwas a (?:hit|flop|mistake|success|disaster|waste)\b
        \b(?:twice|\d+ ?x|\d+ times|much|way) (?:as )?(?:fast|slow|cheap|faster|slower|cheaper
            |larger|smaller)(?:er)? than\b
        \bhad (?:that|it|this) wrong\b
        ^since (?:we|i|the) .{3,60}(?:,| we | it )
    """,
    Kind.PERSON: r"""
        \b<name>,?<adverb> <likes>\b
        \b<name> (?:is|was|will be|becomes)(?: now)? (?:the|our|my|a|an|their|your
            |new) (?:[\w-]+ ){0,3}<role>\b
        \b<name> (?:is|are|will be) (?:in charge|responsible|on leave|on vacation|the one|away)
        \b<name> (?:owns|handles|leads|manages|maintains|takes care|looks after|signs off
            |approves|takes over|works (?:on|from|at|in))\b
        \b<kin>(?-i: [A-Z][a-z]+)?<adverb> (?:<likes>|is|gets|can't|doesn't|won't|has)\b
        \b(?:ask|ping|contact|talk to|escalate to|route|goes? to) <name> (?:for|about|on|when
            |if)
        \b<name> \w+s\b.{0,80}\b(?:he|she|his|her|him)\b
        \b(?:he|she)<adverb> (?:<likes>|won't|can't|refuses|knows|decides)\b
        \b<name> for [\w ]{2,20}, <name> for\b
        \b<name> (?:is|was) (?:based in|leaving|out until|new here|our new)\b
        \b<name> (?:joined|joins|left) (?:us|the|in|as)\b
    """,
    Kind.VALUE: r"""
        \b(?:i|we|i'd|we'd)(?: \w+)? (?:prefer|favou?r|insist)\b
        \b(?:my|our) preference\b
        \b(?:i|we)(?:'d| would)(?: \w+)? rather\b
        \bover \w+ any day\b
        \bpet peeve\b
        \b(?:i|we)(?: really| just| absolutely| personally)? (?:hate|dislike|can't stand
            |don't (?:like|want|do|accept|trust)|do not (?:like|want|do|accept|trust))\b
        \b(?:must|should|shall) (?:always|never|not|stay)\b
        \b(?:has|have|needs?) to stay\b
        (?:^|[.;:,] |\b(?:please|and|but|so|also|we|i) )(?:always|never) (?!good\b|happy|nice
            |glad|great|mind|been|seen|had
            |got|heard|knew|thought|again|happened|a\b|the\b|saw|did|was|were|tried|used to
            |managed|worked|failed|forget)
        \bplease (?:don't|do not|avoid|stop|no)\b
        \bfrom now on\b
        \bgoing forward\b
        \b(?:rule of thumb|ground rule|non-negotiable|no exceptions?|as a rule)\b
        \b(?:house|code|coding|our|my|team) (?:style|rule|policy|convention|standard|principle
            |guideline|philosophy)s?\b
        \b(?:rule|policy|convention|principle)(?: here)?(?: is|:)
        \bmatters? (?:more|most|to me)\b
        \b(?:is|are) (?:sacred|mandatory|forbidden|off limits)\b
        \bi(?: strongly| firmly)? believe (?:in |that |a |an |the |every|no )
        〓,? not 〓
        , (?:never|always|every time|everywhere|period)(?: \w+ing)?[.!]?$
        \bfrom here on\b
        \b(?:is|are) (?:banned|required|not allowed|unacceptable)\b
        \b(?:isn't|aren't) (?:allowed|acceptable)\b
        ^(?:(?:and|also|but|so) )*no more (?!ideas|questions|errors|than)
        \b(?:nobody|no one) (?:here|on (?:this|the|our|my) team) (?:wants|needs|likes|uses|reads)\b
        \b(?:i|we) (?:don't|do not) (?:use|allow|merge|ship|write|mock|believe)\b
        \bnot a (?:big )?fan of\b
        \b(?:drives|annoys|bugs|irritates) (?:me|us|people)\b
        \bone \w+ per \w+\b
        \bas (?:short|small|simple|few|little|boring) as possible\b
        \bwithout exception\b
        \bon every \w+
        ^(?:please )?be (?:brief|concise|direct|honest)\b
        ^(?:and |also |but )*(?:please )?no (?:emojis?|fluff|jargon|apologies|meetings)\b
        \b(?:answer|reply|respond) (?:to me )?in (?:english|japanese|german|french|spanish
            |bullet|one|short)
        \bi (?:work|think|learn|sleep) best\b
        \bi refuse to\b
        \bimportant (?:to me|that (?:we|i|it|every))\b
        \ba habit\b
        \b(?:same day|once a (?:day|week|month|year)|every (?:day|week|month|morning|evening))\b
    """,
    Kind.PROJECT: r"""
        \bnext (?:steps?|up|milestone)\b
        ^next(?: is| i| we|:)
        \bcomes? (?:first|next)\b
        \b(?:am|i'm|we're|are|is|currently|still) (?:blocked|stuck)\b
        \bblocke(?:d by|d on|r)\b
        \b(?:am|i'm|we're|are|is|still|and|,) waiting (?:for|on)\b
        ^waiting (?:for|on)\b
        \b(?:status|progress)(?: update)?(?: so far| on [\w ]{1,40})?(?: is|:)
        \bquick status\b
        \bstill (?:open|missing|to do|pending|outstanding)\b
        \bleft to do\b
        \bto-?do:
        \b(?:only|just) (?:the )?[\w ]{1,40} (?:is|are) (?:missing|left|open)\b
        \bremaining (?:is|are|work|tasks?)
        \b(?:the|our|my|main) (?:goal|target|aim|deadline|plan|milestone|roadmap)(?: is| was|:)
        ^(?:goal|target|plan|deadline|milestone|eta|update)(?: is|:| on| for)
        \b(?:is|are)(?: now| all)? (?:done|finished|complete|in progress|on hold|half ?way
            |shipped|live|merged|deployed|migrated|not started|delayed|on track|behind schedule
            |at risk)\b
        \b\d{1,3} ?% (?:done|there|complete|finished|through)\b
        \bnot started\b
        \b(?:due|launch(?:es)?|ships?|releases?|goes live|comes) (?:on|by|in)? ?(?:<day>|the \d)
        \bi can commit to\b
        \bnot doable\b
        \bwon't make it\b
        \bwe need at least \d
        \b(?:all|everything) (?:that's|that is|thats) left\b
        \bwhat's (?:left|missing)\b
        \b(?:passed|failed|cleared) (?:the|our|its) (?:\w+ )?(?:audit|review|test|inspection
            |security)
        \bon ice\b
        \b(?:is|are) (?:parked|shelved)\b
        \b(?:presentation|demo|exam|kick-?off|release|launch|cutover|hand-?in|submission) is\b
        \bships with\b
        \bhands off\b
        \bis looking into\b
        \bawaiting\b
        \b(?:went|goes|going) live\b
        \b(?:mvp|beta|sprint) (?:is|ends|starts|ships)\b
        \bgot .{1,30} (?:approved|signed|funded)\b
    """,
}

WEAK = {
    Kind.DECISION: r"""
        (?:^|[,;:] )(?:so )?(?:getting|buying|booking|taking|choosing|picking|keeping
            |dropping) the\b
        \bwins\b
        \bmake it the\b
        \b(?:keep|leave) .{1,40} as (?:it is|they are|is)\b
        \bback to (?:mostly|the old|plain|using)\b
        \binstead of\b
        \b(?:applies|effective) from\b
        \bshould live in\b
        \b(?:i'll|i will|i'm going to) (?:go with|use|drop|skip|switch|stick)\b
        \b(?:we|i) dropped\b
        , so (?:we'll|let's) \w+
        \bbelongs? in(?:to)?\b
        \bfor now\b
        \b(?:not worth|overkill|no need (?:for|to)|rather than|nothing else|good enough)\b
        \bcan wait\b
        \b(?:replace|convert|rename|migrate) all\b
        \bwe(?:'ll| will) \w+ (?:the|a|an|all|every|no)\b
    """,
    Kind.LEARNING: r"""
        \bbecause\b
        \bthe reason\b
        \bonly works (?:if|when|with|on)\b
        \bneeds? (?:at least )?\d
        \b(?:doesn't|does not|won't|can't|didn't) (?:work|support|handle|scale|apply) (?:with|on
            |in|for|unless|when|without)\b
        \bworks (?:now|again)\b
        \b(?:is|are) gone\b
        \bwent away\b
        \b(?:dropped|fell|went|down|cut|reduced|improved|rose|up|blows?) .{0,30}(?:to|by
            |from) ~?\d
        \bi (?:broke|removed|renamed|deleted)\b
        \bnot \w+, (?:but|it)\b
        \b(?:silently|by default|under the hood)\b
        \b(?:moved|swapped|changed|set|added|removed|switched|replaced|raised|lowered|disabled
            |enabled
            |upgraded|pinned|reverted) .{3,100}(?:and|,) (?:now |it |the |that |everything |no )
        \b\d+ ?(?:min|minutes|s|ms|gb|mb) (?:to|down to) \d
        \babout \d[\d,.]* ?\w+ (?:a|per) \w+
        \b(?:breaks|fails|crashes|leaks|hangs|times out) (?:when|if|on|because|as soon)\b
        , so (?:the|it|every|all|each) \w+
        \b(?:half|most|\d+ ?%) of (?:it|the (?!time))
        \b(?:takes|costs) (?:about |around |only )?[\d$€]
        \bis deprecated\b
        ^.{30,}(?:, so |, but |, which )\w
    """,
    Kind.VALUE: r"""
        \b(?<!'ve )(?<!have )(?:always|never) (?!forget|been|had|good|happy|nice|glad|great|here
            |a\b|know)
        \bavoid\b
        \bmust (?!have\b|be (?:so|a|an|nice|great|hard|fun|tough|amazing)\b)
        \bno \w+(?: \w+)?, no\b
        \bnothing with\b
        \bdon't (?:ever )?(?:use|add|commit|touch|mock|log|put|push|send)\b
        \bkeep (?:raw|all|every)\b
        \b(?:i|we) care about\b
        \bwe(?:'re| are) \w+ here\b
        \bi want \w+(?: \w+)? (?:shown|done|written|kept|to be)\b
        \bin \w+ please\b
        \bis \w+ only\b
        \bi (?:only|can't) (?:focus|work|sleep|eat)\b
        \bhopeless for me\b
        \bi(?:'m| am) allergic\b
        \b(?:mandatory|picky|ideally)\b
        \bkeep (?:it|them|things|functions|messages|answers) (?:short|simple|small|under|brief
            |flat)\b
        \b(?:at most|no more than) \d
        \bwe don't\b
    """,
    Kind.PROJECT: r"""
        \b(?:by|until|before) (?:the end of|<day>)\b
        \bplan(?:ning)? (?:is )?to\b
        \b(?:finished|shipped|merged|released|launched) .{0,30}(?:today|yesterday|this|last)\b
        \bi(?:'ll| will) (?:take|own|do) (?:the|it)\b
        \bstill (?:need|have) to\b
        \b(?:on|by|until|before) the \d{1,2}(?:st|nd|rd|th)?\b
        \b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]* \d{1,2}\b
        \b(?:ready for|in review|goes to production|is out)\b
        \b(?:i'm|we're|i am|we are) (?:building|working on|writing|migrating|porting|rewriting
            |launching|preparing)\b
        \b(?:nobody can|untouched|pending)\b
    """,
}

REASON = r"""
    ^\W*(?:because|since|the reason|reason:|otherwise|that way)\b
    ^(?:our|the) \w+ (?:went up|is too|are too)\b
"""
