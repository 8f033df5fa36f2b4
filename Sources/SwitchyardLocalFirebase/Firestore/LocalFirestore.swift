import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
package import SwitchyardServerKit
import SwitchyardWire
import Synchronization

/// The documents service: REST calls and, over WebChannel, streams. Every requested project and database exists, and is
/// initially empty.
package final class LocalFirestore: LocalFirebaseService {
    private static let bodyLimit = 4 << 20

    private let project: String
    private let identities: any LocalIdentities
    let rules: LocalRules
    /// What clients of the vendor for Node, Go, Python, Java and devices get, which speak gRPC unless they are told otherwise.
    static let grpcRefusal =
        "The local Firebase has no gRPC. Use Firestore over REST: in Node set preferRest: true in Firestore's settings; in other "
        + "languages call the REST API at /v1, or use the vendor's Firestore emulator."

    package let streamFaults = StreamFaults()
    let channels = ChannelTable()
    private let now: @Sendable () -> Timestamp
    private let journal: DocumentJournal?
    private let databases: Mutex<[FirestoreDatabase: LocalDatabase]>

    init(
        _ options: LocalFirebaseOptions, folder: LocalFolder?, identities: any LocalIdentities, rules: LocalRules
    ) throws(LocalFirebaseError) {
        project = options.project
        self.identities = identities
        self.rules = rules
        now = options.now
        var contents: [FirestoreDatabase: DocumentJournal.Contents] = [:]
        journal = try folder.map { folder throws(LocalFirebaseError) in
            try DocumentJournal(folder, contents: &contents)
        }
        databases = Mutex([:])
        for (name, saved) in contents { _ = database(name, saved) }
    }

    package func stop() async {
        channels.closeAll()
        journal?.finish()
    }

    func database(_ name: FirestoreDatabase, _ contents: DocumentJournal.Contents = .init()) -> LocalDatabase {
        databases.withLock { databases in
            if let known = databases[name] { return known }
            let new = LocalDatabase(
                name, documents: contents.documents, lastCommit: contents.lastCommit, journal: journal, now: now)
            databases[name] = new
            return new
        }
    }

    /// Whether live queries stay open but receive no change. Afterwards all streams end, since they have missed what happened;
    /// clients open new ones and go on where they were.
    package var isDeaf: Bool {
        get { streamFaults.isDeaf }
        set {
            let wasDeaf = streamFaults.isDeaf
            streamFaults.isDeaf = newValue
            if wasDeaf, !newValue { channels.closeAll() }
        }
    }

    /// Deletes all documents of all databases.
    func reset() throws(FirestoreFailure) {
        for database in databases.withLock({ Array($0.values) }) { try database.reset() }
    }

    // MARK: Routes

    package func addRoutes(to router: inout Router) {
        let root = "/v1/projects/{project}/databases/{database}/documents"
        let below = root + "/{place...}"
        for (name, call) in LocalFirestore.calls {
            router.on(.post, "\(root):\(name)") { await self.answer($0, call) }
            router.on(.post, "\(below):\(name)") { await self.answer($0, call) }
        }
        router.on(.get, below) { await self.answer($0, .read) }
        router.on(.post, below) { await self.answer($0, .create) }
        router.on(.patch, below) { await self.answer($0, .patch) }
        router.on(.delete, below) { await self.answer($0, .delete) }
        router.on(.delete, "/emulator/v1/projects/{project}/databases/{database}/documents") {
            await self.answer($0, .clear)
        }
        router.on(.put, "/emulator/v1/projects/{project}:securityRules") { await self.compareRules($0) }
        addChannelRoutes(to: &router)
    }

    /// The part after the colon.
    private static let calls: [(String, Call)] = [
        ("batchGet", .batchGet), ("commit", .commit), ("batchWrite", .batchWrite), ("runQuery", .runQuery),
        ("runAggregationQuery", .runAggregationQuery), ("beginTransaction", .beginTransaction),
        ("rollback", .rollback), ("listCollectionIds", .listCollectionIDs), ("partitionQuery", .partitionQuery),
        ("executePipeline", .unimplemented),
    ]

    private enum Call {
        case read, create, patch, delete, clear, batchGet, commit, batchWrite, runQuery, runAggregationQuery
        case beginTransaction, rollback, listCollectionIDs, partitionQuery, unimplemented

        /// Whether failures are the only element of a list, like all answers of the call.
        var answersInList: Bool {
            switch self {
            case .batchGet, .runQuery, .runAggregationQuery: true
            default: false
            }
        }
    }

    private func answer(_ request: ServerRequest, _ kind: Call) async -> ServerResponse {
        do throws(FirestoreFailure) {
            let name = FirestoreDatabase(
                project: request.parameters["project"] ?? "", database: request.parameters["database"] ?? "")
            let caller = try caller(authorization: request.headers["Authorization"], project: name.project)
            let body = try await LocalFirestore.body(of: request)
            let call = FirestoreCall(
                database: database(name), caller: caller, rules: rules, place: request.parameters["place"] ?? "",
                query: request.queryItems, body: body)
            return .json(try LocalFirestore.run(call, kind).bytes())
        } catch {
            let body: JSON = kind.answersInList ? [error.body] : error.body
            return .json(body.bytes(), status: error.status.httpStatus)
        }
    }

    private static func run(_ call: FirestoreCall, _ kind: Call) throws(FirestoreFailure) -> JSON {
        switch kind {
        case .read: return call.isDocumentPath ? try call.get() : try call.list()
        case .create: return try call.create()
        case .patch: return try call.patch()
        case .delete: return try call.delete()
        case .batchGet: return try call.batchGet()
        case .commit: return try call.commit()
        case .batchWrite: return try call.batchWrite()
        case .runQuery: return try call.runQuery()
        case .runAggregationQuery: return try call.runAggregationQuery()
        case .beginTransaction: return try call.beginTransaction()
        case .rollback: return try call.rollback()
        case .listCollectionIDs: return try call.listCollectionIDs()
        case .partitionQuery: return try call.partitionQuery()
        case .clear:
            try call.database.clear()
            return [:]
        case .unimplemented: throw FirestoreFailure(.unimplemented, "The local server has no such call.")
        }
    }

    /// Takes rules that say what this server does anyway. Others are refused: tests that loaded them would pass for the wrong
    /// reason.
    private func compareRules(_ request: ServerRequest) async -> ServerResponse {
        do throws(FirestoreFailure) {
            let files = try await LocalFirestore.body(of: request)["rules"]?["files"]?.array ?? []
            let given = FirestoreRulesText(files.compactMap { $0["content"]?.string }.joined(separator: "\n"))
            if let refusal = rules.refusal(of: given) { throw FirestoreFailure(.unimplemented, refusal) }
            return .json(JSON.object([:]).bytes())
        } catch {
            return .json(error.body.bytes(), status: error.status.httpStatus)
        }
    }

    /// - Parameter project: The project of the database, whose tokens are valid.
    func caller(authorization: String?, project: String) throws(FirestoreFailure) -> LocalCaller {
        do throws(LocalTokenFailure) {
            return try identities.caller(authorization: authorization, projects: [project])
        } catch {
            throw FirestoreFailure(.unauthenticated, words(about: error, asked: project))
        }
    }

    private func words(about failure: LocalTokenFailure, asked: String) -> String {
        switch failure {
        case .expired: "The ID token has expired."
        case .otherProject(let found) where found == project:
            "The session belongs to the project “\(found)”, which this local Firebase serves, but the call is for “\(asked)”. Set project "
                + "to “\(found)” in Firebase's configuration, or start the server with the project “\(asked)” (--project)."
        case .otherProject(let found): LocalFirestore.words(tokenOf: found, served: asked)
        case .invalid:
            "The ID token is not one of this local Firebase for the project “\(asked)”: it is damaged, or another "
                + "server made it. Sign in again."
        }
    }

    /// The error message of all services for a token of another project.
    static func words(tokenOf found: String, served: String) -> String {
        "The session belongs to the project “\(found)”, and the call is for “\(served)”. Sign in again at this server, or start it "
            + "with the project “\(found)” (--project)."
    }

    private static func body(of request: ServerRequest) async throws(FirestoreFailure) -> JSONObject {
        let bytes: [UInt8]
        do throws(ServerError) { bytes = try await request.body.collect(upTo: bodyLimit) } catch {
            guard case .bodyTooLarge = error else { throw FirestoreFailure(.cancelled, "The request ended early.") }
            throw FirestoreFailure(.resourceExhausted, "The request is larger than \(bodyLimit) bytes.")
        }
        guard !bytes.isEmpty else { return JSONObject() }
        guard let json = try? JSON(parsing: bytes, options: JSONParsingOptions(loneSurrogates: .replace)),
            let object = json.object
        else { throw .invalid("Invalid JSON payload received.") }
        return object
    }
}
