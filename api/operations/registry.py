"""The table of operations. Every face is built from it; nothing is offered that is not here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from api.operations.base import Operation
from api.operations.fetch import FETCH
from api.operations.get_context import GET_CONTEXT
from api.operations.list_projects import LIST_PROJECTS
from api.operations.query_self import QUERY_SELF
from api.operations.read_memory import READ_MEMORY
from api.operations.recall import RECALL
from api.operations.reindex import REINDEX
from api.operations.save_insight import SAVE_INSIGHT
from api.operations.search import SEARCH
from api.operations.search_knowledge import SEARCH_KNOWLEDGE

OPERATIONS: Mapping[str, Operation[Any, Any]] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            QUERY_SELF,
            SEARCH_KNOWLEDGE,
            GET_CONTEXT,
            READ_MEMORY,
            LIST_PROJECTS,
            SAVE_INSIGHT,
            RECALL,
            REINDEX,
            SEARCH,
            FETCH,
        )
    }
)
