"""Search in the shape that ChatGPT expects of a source: ids, titles, URLs."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services, Use
from api.operations.found import clip
from api.operations.quoting import label
from api.operations.references import Reference, parse_reference
from api.operations.search_knowledge import MAX_QUERY
from index.model import Hit, SearchRequest

_MAX_TITLE = 120


class SearchQuery(Request):
    """What to look for."""

    query: Annotated[
        str, Field(min_length=1, max_length=MAX_QUERY, description="Words or a question.")
    ]


class SearchItem(BaseModel):
    """One place."""

    model_config = ConfigDict(frozen=True)

    id: Annotated[str, Field(description="fetch takes it.")]
    title: Annotated[str, Field(description="With kind, confidence and date: raw = unconfirmed.")]
    url: Annotated[str, Field(description="To cite it by.")]


class SearchItems(Answer):
    """Places, best first."""

    results: tuple[SearchItem, ...]

    def result_ids(self) -> tuple[str, ...]:
        """Return the places found."""
        return tuple(item.id.rpartition("#")[2] for item in self.results)

    def places(self) -> tuple[str, ...]:
        """Return the notes found."""
        return tuple(parse_reference(item.id).path for item in self.results)


def search(services: Services, caller: Caller, request: SearchQuery) -> SearchItems:
    """Return the best places for the query among what the caller may read."""
    result = services.index.search(caller.scope, SearchRequest(request.query))
    return SearchItems(results=tuple(_item(hit) for hit in result.hits))


def _item(hit: Hit) -> SearchItem:
    place = Reference(f"{hit.scope.value}/{hit.path}", hit.chunk_id)
    return SearchItem(id=place.id, title=_title(hit), url=place.url)


def _title(hit: Hit) -> str:
    date = f"{hit.date:%Y-%m-%d}" if hit.date else None
    marks = (hit.kind, label(hit.confidence, hit.path), date)
    return f"{clip(hit.title, _MAX_TITLE)} ({', '.join(mark for mark in marks if mark)})"


SEARCH = Operation(
    name="search",
    title="Search (ids to fetch)",
    description=(
        "Search the owner's memory: decisions, learnings, values, people, past conversations. "
        "Gives ids; read the good ones with fetch. It is search_knowledge without filters, for "
        "clients that know only search and fetch."
    ),
    request=SearchQuery,
    answer=SearchItems,
    run=search,
    use=Use.SEARCH,
)
