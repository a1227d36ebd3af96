"""Runtimes for trained networks: PyTorch, ONNX Runtime or OpenVINO, behind one interface."""
