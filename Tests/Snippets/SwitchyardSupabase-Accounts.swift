let serviceKey: Secret = "key"
