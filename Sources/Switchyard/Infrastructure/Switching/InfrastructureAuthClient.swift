/// The auth of an ``Infrastructure``: a call that may have ended a session returns after its wipe request has been carried
/// out.
struct InfrastructureAuthClient: RoutedAuthClient {
    let route: Route<any AuthClient>
    let settle: @Sendable () async -> Void

    func deleteAccount() async throws(AuthError) {
        try await Routed(route).deleteAccount()
        await settle()
    }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await Routed(route).signOut(scope, wipesLocalData: wipesLocalData)
        await settle()
    }
}
