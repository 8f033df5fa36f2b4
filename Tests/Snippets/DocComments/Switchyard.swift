let acme: any StorageClient = given(), provider = InfrastructureProvider.acme
struct AcmeConfiguration: Codable, Sendable {}
let configuration = AcmeModule.Settings()
struct AcmeStorageAdapter: StorageClientWrapper {
    let base: any StorageClient = given()
    init(_ configuration: AcmeConfiguration, auth: (any AuthClient)?) {}
}
actor Store { func deleteEverything(of user: AuthUser.ID?) throws {}; func use(_ user: AuthUser.ID?) {} }
let store = Store()
var subscription: SessionSubscription?
