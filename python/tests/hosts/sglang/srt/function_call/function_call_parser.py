"""Where detectors are known by name."""

from sglang.srt.function_call.base_format_detector import BaseFormatDetector


class FunctionCallParser:
    ToolCallParserEnum: dict[str, type[BaseFormatDetector]] = {}
