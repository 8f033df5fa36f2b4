public import Switchyard

extension InfrastructureProvider {
    public static let firebase: InfrastructureProvider = "firebase"
}
