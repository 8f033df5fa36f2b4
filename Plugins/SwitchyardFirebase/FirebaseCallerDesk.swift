import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardWire

/// Firebase for servers that act for those who bring a token of the project.
struct FirebaseCallerDesk: CallerDesk {
    let verifier: any TokenVerifier
    private let surroundings: FirebaseSurroundings
    private let database: FirestoreDatabase

    /// - Parameter surroundings: Of nobody; its transport is for all.
    init(_ surroundings: FirebaseSurroundings) {
        self.surroundings = surroundings
        verifier = FirebaseTokenVerifier(surroundings)
        let configuration = surroundings.configuration
        database = FirestoreDatabase(project: configuration.project, database: configuration.database)
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        let configuration = surroundings.configuration
        let service = FirestoreService(database, surroundings.acting(as: auth, with: nil))
        let clock = surroundings.context.clock
        return DirectStorageClient(
            FirestoreDriver(
                service: service, ledger: configuration.writeLedger,
                locksInTransactions: configuration.locksInTransactions, clock: clock),
            userID: caller.userID, clock: clock)
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        let configuration = surroundings.configuration
        let project = surroundings.acting(
            as: nil, with: try surroundings.credential(for: surroundings.endpoints.firestore))
        let clock = surroundings.context.clock
        return DirectStorageClient(
            FirestoreDriver(
                service: FirestoreService(database, project), ledger: configuration.writeLedger,
                locksInTransactions: configuration.locksInTransactions, isProject: true, clock: clock), clock: clock)
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient {
        let endpoint = surroundings.endpoints.identityToolkit
        return FirebaseAdminClient(surroundings, try surroundings.credential(for: endpoint))
    }

    func shutDown() async { await surroundings.transport.shutDown() }
}

extension FirebaseSurroundings {
    /// The same for somebody else, or with `credential` for the project itself.
    fileprivate func acting(as caller: (any AuthClient)?, with credential: ProjectTokens?) -> FirebaseSurroundings {
        FirebaseSurroundings(
            configuration: configuration, endpoints: endpoints, transport: transport,
            tokens: FirebaseTokens(
                auth: caller, appCheck: tokens.appCheck, project: tokens.project, credential: credential),
            context: context)
    }

    /// What proves the project; to an emulator that is a word which everybody knows.
    fileprivate func credential(for endpoint: FirebaseEndpoint) throws(InfrastructureError) -> ProjectTokens {
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
