print("LifeSignal")
