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

    /// Ends its connections.
    func shutDown() async
}
