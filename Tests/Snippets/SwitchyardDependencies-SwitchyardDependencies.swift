let selection = InfrastructureSelection(default: .acme)
func runApp() async throws {}
