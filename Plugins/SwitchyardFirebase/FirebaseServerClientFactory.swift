import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardWire

/// Firebase for servers that act for callers with a token of the project.
struct FirebaseServerClientFactory: ServerClientFactory {
    let verifier: any TokenVerifier
    private let context: FirebaseContext
    /// Unauthenticated. Creates what all callers share once.
    private let service: FirestoreService
    private let engines = SharedEngines()

    /// - Parameter context: A context without a user. All callers share its transport.
    init(_ context: FirebaseContext) {
        self.context = context
        verifier = FirebaseTokenVerifier(context)
        let configuration = context.configuration
        service = FirestoreService(
            FirestoreDatabase(project: configuration.project, database: configuration.database), context)
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        makeStorageClient(with: context.tokens(of: auth, nil), caller)
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        let credential = try context.credential(for: context.endpoints.firestore)
        return makeStorageClient(with: context.tokens(of: nil, credential), nil)
    }

    /// - Parameter caller: `nil` for the project itself.
    private func makeStorageClient(with tokens: FirebaseTokens, _ caller: VerifiedToken?) -> any StorageClient {
        let (configuration, module) = (context.configuration, context.module)
        return DirectStorageClient(
            FirestoreDriver(
                service: service.asking(with: tokens), ledger: configuration.writeLedger,
                locksInTransactions: configuration.locksInTransactions, isProject: caller == nil, clock: module.clock),
            token: caller?.token, userID: caller?.userID, engines: engines, clock: module.clock,
            observer: module.observer)
    }

    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient {
        try makeFileStorageClient(with: context.tokens(of: auth, nil))
    }

    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        let credential = try context.credential(for: context.endpoints.storage)
        return try makeFileStorageClient(with: context.tokens(of: nil, credential))
    }

    private func makeFileStorageClient(
        with tokens: FirebaseTokens
    ) throws(InfrastructureError) -> any FileStorageClient {
        FirebaseFileStorageAdapter(
            try FirebaseFileService(context, tokens: tokens), folder: nil, sharesTransport: true)
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        let endpoint = context.endpoints.identityToolkit
        return FirebaseAdminClient(context, try context.credential(for: endpoint))
    }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        let endpoint = context.endpoints.messaging
        return PortableFirebaseSender(
            base: try FirebaseMessageSender(context, try context.credential(for: endpoint)))
    }

    func shutDown() async {
        await engines.shutDown()
        await context.transport.shutDown()
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
                "Acting for the project requires a credential. Set credential in Firebase's configuration to the path of a service "
                    + "account's key file, or to applicationDefault; never in an app.")
        }
        return .ofEmulators(transport: transport, clock: module.clock)
    }
}
