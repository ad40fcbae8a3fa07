"""Models to and from other systems: torch.export programs, ONNX files, AOTInductor packages, ExecuTorch."""
