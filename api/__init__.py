"""Operations, and their faces: MCP, HTTP, CLI."""
