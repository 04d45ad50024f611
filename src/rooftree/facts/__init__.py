"""What is true: parts, figures, architectures, workloads, measurements. Fields and no arithmetic."""
