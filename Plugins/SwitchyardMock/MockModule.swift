public import Switchyard

extension InfrastructureProvider {
    public static let mock: InfrastructureProvider = "mock"
}
