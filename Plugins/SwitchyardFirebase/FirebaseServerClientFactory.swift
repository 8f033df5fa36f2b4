import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardWire

/// Firebase for servers that act for callers with a token of the project.
struct FirebaseServerClientFactory: ServerClientFactory {
    let verifier: any TokenVerifier
    private let surroundings: FirebaseContext
    /// Unauthenticated. Creates what all callers share once.
    private let service: FirestoreService
    private let engines = SharedEngines()

    /// - Parameter surroundings: Surroundings without a user, whose transport all callers share.
    init(_ surroundings: FirebaseContext) {
        self.surroundings = surroundings
        verifier = FirebaseTokenVerifier(surroundings)
        let configuration = surroundings.configuration
        service = FirestoreService(
            FirestoreDatabase(project: configuration.project, database: configuration.database), surroundings)
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        makeStorageClient(with: surroundings.tokens(of: auth, nil), caller)
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        let credential = try surroundings.credential(for: surroundings.endpoints.firestore)
        return makeStorageClient(with: surroundings.tokens(of: nil, credential), nil)
    }

    /// - Parameter caller: `nil` for the project itself.
    private func makeStorageClient(with tokens: FirebaseTokens, _ caller: VerifiedToken?) -> any StorageClient {
        let (configuration, context) = (surroundings.configuration, surroundings.context)
        return DirectStorageClient(
            FirestoreDriver(
                service: service.asking(with: tokens), ledger: configuration.writeLedger,
                locksInTransactions: configuration.locksInTransactions, isProject: caller == nil, clock: context.clock),
            token: caller?.token, userID: caller?.userID, engines: engines, clock: context.clock,
            observer: context.observer)
    }

    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient {
        try makeFileStorageClient(with: surroundings.tokens(of: auth, nil))
    }

    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        let credential = try surroundings.credential(for: surroundings.endpoints.storage)
        return try makeFileStorageClient(with: surroundings.tokens(of: nil, credential))
    }

    private func makeFileStorageClient(
        with tokens: FirebaseTokens
    ) throws(InfrastructureError) -> any FileStorageClient {
        FirebaseFileStorageAdapter(
            try FirebaseFileService(surroundings, tokens: tokens), folder: nil, sharesTransport: true)
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        let endpoint = surroundings.endpoints.identityToolkit
        return FirebaseAdminClient(surroundings, try surroundings.credential(for: endpoint))
    }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        let endpoint = surroundings.endpoints.messaging
        return PortableFirebaseSender(
            base: try FirebaseMessageSender(surroundings, try surroundings.credential(for: endpoint)))
    }

    func shutDown() async {
        await engines.shutDown()
        await surroundings.transport.shutDown()
    }
}

extension FirebaseContext {
    /// The tokens of a caller, or with `credential`, the project's own.
    fileprivate func tokens(of caller: (any AuthClient)?, _ credential: ProjectTokens?) -> FirebaseTokens {
        FirebaseTokens(auth: caller, appCheck: tokens.appCheck, project: tokens.project, credential: credential)
    }

    /// The project's credential; an emulator accepts a fixed word instead.
    func credential(for endpoint: FirebaseEndpoint) throws(InfrastructureError) -> ProjectTokens {
        if let credential = tokens.credential { return credential }
        guard endpoint.isEmulator else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Acting for the project takes a credential. Set credential in Firebase's configuration to the path of a service "
                    + "account's key file, or to applicationDefault; never in an app.")
        }
        return .ofEmulators(transport: transport, clock: context.clock)
    }
}
