"""What the memory is used for, in ids, ranks and times: never a word of anybody's text.

`log` writes it beside each request, `recalled` keeps the running scores of recall, `report` counts.
"""
