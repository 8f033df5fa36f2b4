print("MixedBackends")
