/// The auth of an ``Infrastructure``: a call that may have ended a session returns after its wipe request has been carried
/// out.
struct HeedingAuthClient: RoutedAuthClient {
    let route: any Route<any AuthClient>
    let heed: @Sendable () async -> Void

    func deleteAccount() async throws(AuthError) {
        try await Routed(route).deleteAccount()
        await heed()
    }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await Routed(route).signOut(scope, wipesLocalData: wipesLocalData)
        await heed()
    }
}
