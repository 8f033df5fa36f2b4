public import Switchyard

extension MockBackend {
    /// Creates all clients of a new device of this project.
    ///
    /// ```swift
    /// let app = TodoModel(try await backend.infrastructure(signedInAs: "alice"))
    /// ```
    /// - Parameters:
    ///   - userID: The signed-in user, whose account is created if needed; `nil` for nobody.
    ///   - network: The device's connection.
    ///   - options: The clock, an observer and layers.
    public func infrastructure(
        signedInAs userID: AuthUser.ID? = nil, network: MockNetwork = MockNetwork(),
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> Infrastructure {
        let infrastructure = try await Infrastructure(.mock(self, network: network), in: options)
        guard let userID else { return infrastructure }
        do throws(AuthError) {
            try await infrastructure.auth.signIn(with: .customToken(accounts.customToken(for: userID)))
        } catch {
            throw InfrastructureError(error.code, error.message, underlying: error)
        }
        return infrastructure
    }
}
