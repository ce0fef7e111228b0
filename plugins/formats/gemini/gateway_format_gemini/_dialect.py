"""Names that several modules of this format share."""

DIALECT = "gemini"
NATIVE = f"~{DIALECT}"
"""The origin of what a client of this format brings from the vendor itself."""

GENERATION_CONFIG = "generationConfig"
TOOL_CONFIG = "toolConfig"
CALLING_CONFIG = "functionCallingConfig"
