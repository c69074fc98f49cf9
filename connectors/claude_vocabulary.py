"""The words of Claude Code's transcripts that are known here, up to version 2.1.294.

New ones appear every few weeks: what is not listed is counted and reported, and a line added.
"""

from __future__ import annotations

SPEECHLESS_TYPES = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "artifact-autoreact-ledger",
        "artifact-comment-monitor",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "cost-state",
        "ended",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "isolation-latch",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "relocated",
        "result",
        "started",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
"""Record types that carry nothing said; any other is counted as unknown."""

SYSTEM_SUBTYPES = frozenset(
    {
        "agents_killed",
        "api_error",
        "away_summary",
        "bridge_status",
        "compact_boundary",
        "file_snapshot",
        "informational",
        "local_command",
        "memory_saved",
        "microcompact_boundary",
        "model_refusal_fallback",
        "permission_retry",
        "post_turn",
        "scheduled_task_fire",
        "stop_hook_summary",
        "thinking",
        "turn_duration",
    }
)
"""Subtypes of `system` records; none is speech."""

SPEECHLESS_BLOCKS = frozenset(
    {
        "code_execution_tool_result",
        "connector_text",
        "container_upload",
        "document",
        "fallback",
        "image",
        "mcp_tool_result",
        "mcp_tool_use",
        "redacted_thinking",
        "search_result",
        "server_tool_use",
        "thinking",
        "tool_reference",
        "tool_result",
        "tool_use",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
"""Types of content blocks that are not speech."""

EDITING_TOOLS = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change a file, and the argument that names it."""

NOT_SPOKEN_FLAGS = frozenset(
    {
        "isMeta",
        "isCompactSummary",
        "isVisibleInTranscriptOnly",
        "isApiErrorMessage",
        "turnCompanion",
    }
)
"""Any of these set to true: Claude Code wrote the record in somebody's name."""

MACHINE_ORIGINS = frozenset(
    {
        "auto-continuation",
        "auto_continuation",
        "channel",
        "coordinator",
        "cron",
        "loop",
        "peer",
        "plugin",
        "scheduled",
        "scheduled-task",
        "system",
        "task-notification",
        "task_notification",
        "teammate",
    }
)
"""`origin.kind` or `turnOrigin` of what no person typed."""

PERSON_ORIGINS = frozenset({None, "human", "sdk"})
