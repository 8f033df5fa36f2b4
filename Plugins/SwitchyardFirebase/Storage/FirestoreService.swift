import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardProviderHTTP
import SwitchyardSync
import SwitchyardWire

/// One-shot calls to Firestore: authorization, sending and error mapping. The calls themselves are in the extensions.
struct FirestoreService: Sendable {
    /// The deadline of calls that read a lot.
    static let readDeadline = Duration.seconds(300)
    /// The deadline of all other calls.
    static let callDeadline = Duration.seconds(60)
    /// How long an answer may stall. Some servers never answer a request that they cannot process.
    static let idleLimit = Duration.seconds(30)
    static let maximumAnswer = 256 << 20
    /// The largest list that is received completely before it is decoded.
    static let briefList = 16

    let database: FirestoreDatabase
    let endpoint: FirebaseEndpoint
    let transport: any Transport
    private var tokens: FirebaseTokens
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    /// The header fields of every call, without tokens.
    private let headers: [(String, String)]
    /// The parent of most calls, and its address.
    private let root: (name: String, address: String)

    init(_ database: FirestoreDatabase, _ context: FirebaseContext) {
        self.database = database
        endpoint = context.endpoints.firestore
        transport = context.transport
        tokens = context.tokens
        clock = context.module.clock
        now = context.module.now
        root = (database.root, Self.address(of: database.root, at: endpoint))
        var parameters = "project_id=\(PercentCoding.encode(database.project))"
        if database.database != "(default)" {
            parameters += "&database_id=\(PercentCoding.encode(database.database))"
        }
        headers =
            context.appHeaders + [
                ("google-cloud-resource-prefix", PercentCoding.encode(database.name)),
                ("x-goog-request-params", parameters),
            ]
    }

    /// The largest request body that the server accepts.
    var maximumRequest: Int { endpoint.isEmulator ? 4 << 20 : 10 << 20 }

    /// The header fields that identify the caller.
    ///
    /// - Parameters:
    ///   - batch: The batch to commit, which must not be sent in another user's name.
    ///   - refused: The proof that the server refused.
    ///   - isRefused: The same if the refused credentials are no longer known.
    func credentials(
        for batch: OutgoingBatch? = nil, replacing refused: FirebaseTokens.RequestCredentials? = nil,
        isRefused: Bool = false
    ) async throws(StorageError) -> (headers: [(String, String)], credentials: FirebaseTokens.RequestCredentials) {
        let tokens = batch.map { self.tokens.bound(to: CallOwner($0.userID)) } ?? self.tokens
        let credentials: FirebaseTokens.RequestCredentials
        do throws(FirebaseTokens.Failure) {
            credentials = try await tokens.credentials(for: endpoint, replacing: refused, isRefused: isRefused)
        } catch {
            // The batch waits for its own user.
            if batch != nil, case .otherUser = error {
                throw StorageError(.unavailable, "Another user has signed in since the batch was written.")
            }
            throw StorageError(error)
        }
        var headers = headers
        if let user = credentials.user {
            headers.append(("Authorization", "Bearer \(user.value.reveal())"))
        } else if let token = credentials.project, let credential = tokens.credential {
            headers += credential.headers(with: token, for: database.project)
        }
        if let app = credentials.app { headers.append(("X-Firebase-AppCheck", app.reveal())) }
        return (headers, credentials)
    }

    /// This service for a series of calls of the current user. Calls fail once another user signs in.
    func bound() async throws(StorageError) -> FirestoreService {
        var service = self
        do throws(FirebaseTokens.Failure) {
            service.tokens = try await tokens.bound()
        } catch {
            throw StorageError(error)
        }
        return service
    }

    /// This service with other tokens.
    func asking(with tokens: FirebaseTokens) -> FirestoreService {
        var service = self
        service.tokens = tokens
        return service
    }

    // MARK: Whole answers

    /// - Parameter parent: A resource name; everything in it except slashes is encoded.
    func post(
        _ call: String, at parent: String, _ body: JSON, isIdempotent: Bool, for batch: OutgoingBatch? = nil
    ) async throws(StorageError) -> JSON {
        var request = try request(call, parent, body, isIdempotent)
        return try await outlasting(isIdempotent) { () throws(StorageError) in
            try await post(&request, for: batch)
        }
    }

    private func post(
        _ request: inout HTTPRequest, for batch: OutgoingBatch?
    ) async throws(StorageError) -> JSON {
        let answer = try await authorised(&request, for: batch) { request in
            do throws(TransportError) {
                return .success(try await transport.send(request, within: Self.callDeadline, clock: clock))
            } catch {
                return .failure(StorageError(error))
            }
        } failure: { response in
            response.isSuccess ? nil : refusal(response.head, response.body)
        }
        do throws(JSONError) {
            return try JSON(parsing: answer.body, options: Self.parsing)
        } catch {
            if answer.body.isWebPage { throw StorageError(refusal(answer.head, answer.body)) }
            throw StorageError(.unavailable, "The server's response was cut short.", underlying: error)
        }
    }

    // MARK: Lists

    /// The answer to a call that returns a list.
    ///
    /// - Parameters:
    ///   - isBrief: Whether the list is short. If so, it is decoded when complete, which saves the task switches between
    ///     the pieces of a small answer. Otherwise it is decoded while it arrives.
    ///   - start: What `take` adds the elements to, one after the other.
    func list<Contents: Sendable>(
        from call: String, at parent: String, _ body: JSON, isBrief: Bool = false, into start: Contents,
        _ take: @escaping ListReader<Contents>.Take
    ) async throws(StorageError) -> Contents {
        var request = try request(call, parent, body, true)
        return try await outlasting { () throws(StorageError) in
            try await list(&request, isBrief, ListReader(into: start, take))
        }
    }

    private func list<Contents: Sendable>(
        _ request: inout HTTPRequest, _ isBrief: Bool, _ reader: ListReader<Contents>
    ) async throws(StorageError) -> Contents {
        let answer = try await authorised(&request, for: nil) { request -> Result<ListAnswer<Contents>, StorageError> in
            do throws(TransportError) {
                return .success(try await read(request, isBrief, reader))
            } catch {
                return .failure(StorageError(error))
            }
        } failure: {
            if case .refused(let failure) = $0 { failure } else { nil }
        }
        switch answer {
        case .complete(let contents): return contents
        case .refused(let failure): throw StorageError(failure)
        case .unreadable(let error): throw error
        }
    }

    private func read<Contents: Sendable>(
        _ request: HTTPRequest, _ isBrief: Bool, _ reader: ListReader<Contents>
    ) async throws(TransportError) -> ListAnswer<Contents> {
        if isBrief {
            let answer = try await transport.send(request, within: Self.callDeadline, clock: clock)
            guard answer.isSuccess else {
                return .refused(refusal(answer.head, answer.body))
            }
            if answer.body.isWebPage { return .refused(refusal(answer.head, answer.body)) }
            var reader = reader
            return reader.take(answer.body) ?? reader.finish()
        }
        let transport = transport
        return try await withDeadline(Self.readDeadline, clock: clock, isIdempotent: true) {
            () throws(TransportError) in
            let stream = try await transport.stream(request)
            guard stream.head.isSuccess else {
                let body = try await stream.body.collect(upTo: 1 << 20)
                return .refused(refusal(stream.head, body))
            }
            var reader = reader
            for try await chunk in stream.body {
                if chunk.isWebPage { return .refused(refusal(stream.head, chunk)) }
                if let answer = reader.take(chunk) { return answer }
            }
            return reader.finish()
        }
    }

    // MARK: Both

    /// The failure for an error answer, or for an answer that the service did not write.
    private func refusal(_ head: HTTPResponseHead, _ body: [UInt8]) -> FirestoreFailure {
        let failure = FirestoreFailure(body: body, httpStatus: head.status, from: endpoint.address)
        guard failure.status == .unauthenticated, let remark = DeviceClock.remark(head.headers, now: now()) else {
            return failure
        }
        return failure.saying(failure.message.isEmpty ? remark : "\(failure.message) \(remark)")
    }

    private func request(
        _ call: String, _ parent: String, _ body: JSON, _ isIdempotent: Bool
    ) throws(StorageError) -> HTTPRequest {
        let address = parent.utf8Equals(root.name) ? root.address : Self.address(of: parent, at: endpoint)
        var request = HTTPRequest(.post, "\(address):\(call)", body: body.bytes(), isIdempotent: isIdempotent)
        guard request.body.count <= maximumRequest else {
            throw StorageError(
                .invalidArgument,
                "The request has \(request.body.count) bytes; the server takes at most \(maximumRequest).",
                isRefusal: true)
        }
        request.maximumBodySize = Self.maximumAnswer
        request.maximumStreamedSize = Int64(Self.maximumAnswer)
        request.idleLimit = Self.idleLimit
        return request
    }

    private static func address(of parent: String, at endpoint: FirebaseEndpoint) -> String {
        let path = parent.split(separator: "/").map { PercentCoding.encode($0) }.joined(separator: "/")
        return "\(endpoint.address)/v1/\(path)"
    }

    /// Repeats a call that may be repeated while the server is there but cannot answer.
    private func outlasting<Answer>(
        _ mayRepeat: Bool = true, _ call: () async throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try await Patience(clock: clock).outlasting(
            { (error: StorageError) -> Duration? in
                guard mayRepeat else { return nil }
                return error.pauseBeforeRepetition { (failure: FirestoreFailure) in failure.isPassing ? .zero : nil }
            }, call)
    }

    /// Sends with tokens, and once more with new ones if they were refused. A refused request has not been carried out.
    private func authorised<Answer>(
        _ request: inout HTTPRequest, for batch: OutgoingBatch?,
        _ send: (HTTPRequest) async -> Result<Answer, StorageError>,
        failure: (Answer) -> FirestoreFailure?
    ) async throws(StorageError) -> Answer {
        var refused: FirebaseTokens.RequestCredentials?
        while true {
            request.headers = ["Content-Type": "application/json"]
            let (headers, credentials) = try await credentials(for: batch, replacing: refused)
            for (name, value) in headers { request.headers.add(name, value) }
            let answer = try await send(request).get()
            guard let failure = failure(answer) else { return answer }
            guard failure.status == .unauthenticated, refused == nil, tokens.canRefresh else {
                let error = StorageError(failure)
                // The new token was refused, too.
                if refused != nil, error.code == .unauthenticated { throw error.asLasting() }
                guard error.code == .unauthorized, credentials.user == nil, let remark = tokens.unauthenticatedHint
                else {
                    throw error
                }
                throw error.saying("\(error.message) \(remark)")
            }
            refused = credentials
        }
    }

    static let parsing = JSONParsingOptions(loneSurrogates: .replace)
}
