nonisolated(unsafe) var configuration: SupabaseConfiguration = { fatalError() }()
