"""What runs a trained network: PyTorch, ONNX Runtime or OpenVINO, behind one interface."""
