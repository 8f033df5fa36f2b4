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
        let service = FirestoreService(database, surroundings.acting(as: auth))
        let clock = surroundings.context.clock
        return DirectStorageClient(
            FirestoreDriver(
                service: service, ledger: configuration.writeLedger,
                locksInTransactions: configuration.locksInTransactions, clock: clock),
            userID: caller.userID, clock: clock)
    }

    func shutDown() async { await surroundings.transport.shutDown() }
}

extension FirebaseSurroundings {
    /// The same for somebody else.
    fileprivate func acting(as caller: any AuthClient) -> FirebaseSurroundings {
        FirebaseSurroundings(
            configuration: configuration, endpoints: endpoints, transport: transport,
            tokens: FirebaseTokens(auth: caller, appCheck: tokens.appCheck, project: tokens.project), context: context)
    }
}
