/// For servers: the resources that all requests to one provider share (connections, limits, published keys), and a factory of
/// clients that act for one caller.
public protocol ServerClientFactory: Sendable {
    var verifier: any TokenVerifier { get }

    /// Makes a storage client that reads and writes with the caller's own token. Making one takes microseconds, and it need not
    /// be shut down: it shares the connections of this factory.
    ///
    /// - Parameters:
    ///   - caller: The user. May be signed in with another provider whose sessions this one accepts.
    ///   - auth: Returns the caller's token, and no other.
    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient

    /// Makes a file client that uses the caller's own token. It is as cheap; uploads are not recorded anywhere.
    ///
    /// - Throws: `.unsupported` (as in the default) or `.invalidConfiguration`: then the caller has no files, and calls say
    ///   why.
    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient

    /// Makes a storage client that acts for the project itself and bypasses all rules. It is as cheap as a caller's.
    ///
    /// - Throws: `.unsupported` if the provider does not support this; `.invalidConfiguration` if the configuration has no
    ///   project credential. The defaults of this and the next three throw the former.
    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient

    /// Makes a client for all files of the project. It is as cheap, and throws the same errors.
    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient

    /// Makes the client that manages the project's accounts. It is as cheap, and throws the same errors.
    func makeAdminClient() throws(InfrastructureError) -> any AdminClient

    /// Makes the client that sends messages on behalf of the project. It is as cheap, and throws the same errors.
    func makeMessageSender() throws(InfrastructureError) -> any MessageSender

    /// Closes the connections.
    func shutDown() async
}

extension ServerClientFactory {
    public func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient {
        throw InfrastructureError(.unsupported, "The provider “\(verifier.provider)” has no files for callers.")
    }

    public func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        throw InfrastructureError(
            .unsupported, "The provider “\(verifier.provider)” has no documents of the project's own.")
    }

    public func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        throw InfrastructureError(
            .unsupported, "The provider “\(verifier.provider)” has no files of the project's own.")
    }

    public func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        throw InfrastructureError(
            .unsupported, "The provider “\(verifier.provider)” has no administration of accounts.")
    }

    public func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        throw InfrastructureError(.unsupported, "The provider “\(verifier.provider)” sends no messages.")
    }
}
