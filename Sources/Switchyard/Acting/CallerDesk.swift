/// For servers: what the requests of many people have in common at one provider — connections, limits, published keys — and
/// what makes clients that act for one of them.
public protocol CallerDesk: Sendable {
    var verifier: any TokenVerifier { get }

    /// Documents as `caller` sees them, asked with the caller's own token. Made in microseconds, kept by nobody, and nothing has
    /// to be ended: it shares what this has.
    ///
    /// - Parameters:
    ///   - caller: May be signed in at another provider, whose tokens are taken as its sessions are.
    ///   - auth: Hands out the caller's token, and no other.
    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient

    /// Documents as the project itself sees them: no rules stand in the way. As light as a caller's.
    ///
    /// - Throws: `.unsupported` where the provider has no such thing; `.invalidConfiguration` where the configuration lacks
    ///   what proves the project. The defaults of this and the next throw the former.
    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient

    /// The project's accounts. As light, and with the same errors.
    func makeAdminClient() throws(InfrastructureError) -> any AdminClient

    /// Ends its connections.
    func shutDown() async
}

extension CallerDesk {
    public func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        throw InfrastructureError(
            .unsupported, "The provider “\(verifier.provider)” has no documents of the project's own.")
    }

    public func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        throw InfrastructureError(
            .unsupported, "The provider “\(verifier.provider)” has no administration of accounts.")
    }
}
