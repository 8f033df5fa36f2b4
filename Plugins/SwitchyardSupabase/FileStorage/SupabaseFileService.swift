import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// Calls to Supabase's storage: authorization, sending, retries and error mapping.
struct SupabaseFileService: Sendable {
    static let callDeadline = Duration.seconds(60)

    /// `https://….supabase.co/storage/v1`, without a trailing slash.
    let address: String
    let buckets: SupabaseBuckets
    private(set) var tokens: SupabaseTokens
    let transport: any Transport
    /// Retries calls that are safe to repeat, as long as the failure may be temporary.
    let persistently: RetryingCaller
    var clock: any Clock<Duration> { persistently.clock }
    let now: @Sendable () -> Timestamp
    /// A host in a private network to which secrets may be sent in plain HTTP.
    var plainHost: String?

    // MARK: Addresses

    func address(_ route: String, of path: FilePath) throws(FileStorageError) -> String {
        "\(address)/\(route)/\(try buckets.location(of: path).address)"
    }

    func call(_ request: HTTPRequest, isSession: Bool = false) async throws(FileStorageError) -> HTTPResponse {
        try await authorized(request, isSession: isSession) { request throws(TransportError) in
            try await transport.send(request, within: Self.callDeadline, clock: clock)
        }
    }

    /// Sends with the current token, and once more with a new one if it is refused.
    func authorized<Answer: HTTPAnswer>(
        _ request: HTTPRequest, isSession: Bool = false,
        _ send: (HTTPRequest) async throws(TransportError) -> Answer
    ) async throws(FileStorageError) -> Answer {
        var refused: SupabaseTokens.RequestCredentials?
        while true {
            let (complete, credentials) = try await sealed(request, replacing: refused)
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(complete)
            } catch {
                throw FileStorageError(error)
            }
            if answer.head.isSuccess { return answer }
            let response = await answer.whole()
            let failure = FileStorageError(supabase: response, isSession: isSession, in: buckets, now: now())
            if let credentials, credentials.user == nil, failure.code == .unauthenticated {
                throw FileStorageError(
                    .unauthenticated, FileStorageError.refusedKey, isRetryable: false, underlying: failure.underlying)
            }
            let text = SupabaseFileFailure(response).text
            if let problem = SupabaseTokenProblem(code: nil, text: text, user: credentials?.user) {
                throw FileStorageError(
                    .unauthorized, problem.message(tokens.issuer), isRetryable: false, underlying: problem)
            }
            guard failure.code == .unauthenticated, credentials?.user != nil, refused == nil else { throw failure }
            refused = credentials
        }
    }

    /// - Returns: The request with its tokens, and the tokens. Requests to any host other than the project's get none.
    private func sealed(
        _ request: HTTPRequest, replacing refused: SupabaseTokens.RequestCredentials?
    ) async throws(FileStorageError) -> (HTTPRequest, SupabaseTokens.RequestCredentials?) {
        guard let home = try? URLParts(validating: address), let target = try? URLParts(validating: request.url) else {
            throw FileStorageError(.invalidArgument, "The project's address is invalid.")
        }
        // The server may redirect uploads to another host, which gets no keys or tokens.
        guard target.origin == home.origin else {
            do throws(SupabaseTokens.Failure) { try await tokens.checkOwner() } catch {
                throw FileStorageError(error.meaning)
            }
            return (request, nil)
        }
        guard home.mayCarrySecrets(plainTo: plainHost) else {
            throw FileStorageError(
                .unauthenticated,
                "The address uses plain HTTP to another machine, so no key is sent there. "
                    + PlainHTTP.remedy(for: address), isRetryable: false)
        }
        var request = request
        let credentials: SupabaseTokens.RequestCredentials
        do throws(SupabaseTokens.Failure) {
            credentials = try await tokens.credentials(replacing: refused)
        } catch {
            throw FileStorageError(error.meaning)
        }
        credentials.sign(&request.headers)
        return (request, credentials)
    }

    /// This service for an operation of several calls, which fail if another user signs in before the last one.
    func bound() async throws(FileStorageError) -> SupabaseFileService {
        var service = self
        do throws(SupabaseTokens.Failure) {
            service.tokens = try await tokens.bound()
        } catch {
            throw FileStorageError(error.meaning)
        }
        return service
    }

    /// The user of a bound service.
    var owner: String { tokens.owner?.userID ?? UploadSession.noUser }

    // MARK: Files

    func info(_ path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try FileMetadata(info: try await infoAnswer(path), at: path)
    }

    private func infoAnswer(_ path: FilePath) async throws(FileStorageError) -> [UInt8] {
        let request = HTTPRequest(.get, try address("object/info/authenticated", of: path))
        return try await persistently("metadata") { () throws(FileStorageError) in try await call(request).body }
    }

    /// Asks whether there is a bucket: a list of a missing one is empty, while a signed-in user's read says so.
    ///
    /// - Throws: `.notFound` only if the server says that it does not exist.
    func checkBucket(_ name: String) async throws(FileStorageError) {
        let request = HTTPRequest(
            .get, "\(address)/object/authenticated/\(PercentCoding.encode(name))/.no-such-file")
        do throws(FileStorageError) {
            guard try await isSignedIn() else { return }
            _ = try await call(request)
        } catch {
            guard error.code == .notFound, (error.underlying as? SupabaseFileFailure)?.isAboutBucket == true else {
                return
            }
            throw FileStorageError(
                .notFound,
                "The bucket “\(name)” does not exist. Create it in the dashboard under Storage, or start a local Supabase with "
                    + "--bucket \(name), or correct the name in the configuration.", underlying: error.underlying)
        }
    }

    private func isSignedIn() async throws(FileStorageError) -> Bool {
        do throws(SupabaseTokens.Failure) { return try await tokens.credentials().user != nil } catch {
            throw FileStorageError(error.meaning)
        }
    }

    /// Whether a file has exactly these bytes; `false` if the user may not read it.
    func hasContents(_ path: FilePath, _ bytes: [UInt8]) async throws(FileStorageError) -> Bool {
        let request = HTTPRequest(.get, try address("object/authenticated", of: path))
        do throws(FileStorageError) {
            return try await persistently("comparison") { () throws(FileStorageError) in try await call(request).body }
                == bytes
        } catch {
            guard error.code == .notFound || error.code == .unauthorized else { throw error }
            return false
        }
    }

    /// The file, if this upload has created it: the upload's address contains the version that the file will have.
    func info(_ path: FilePath, madeBy session: UploadSession) async throws(FileStorageError) -> FileMetadata? {
        let answer = try await infoAnswer(path)
        guard let version = (try? JSON(parsing: answer))?["version"]?.string, !version.isEmpty,
            let id = session.address.split(separator: "/").last.flatMap({ Base64.decode($0, alphabet: .url) }),
            String(decoding: id, as: UTF8.self).hasSuffix("/" + version)
        else { return nil }
        return try FileMetadata(info: answer, at: path)
    }

    func post(_ url: String, _ body: JSON, _ headers: HTTPHeaders = [:]) -> HTTPRequest {
        var request = HTTPRequest(.post, url, headers: headers, body: body.bytes())
        request.headers["Content-Type"] = "application/json"
        return request
    }
}

extension SupabaseFileService {
    /// - Throws: `.invalidConfiguration` without a bucket.
    init(_ context: SupabaseContext, tokens: SupabaseTokens) throws(InfrastructureError) {
        let configuration = context.configuration
        let buckets = try SupabaseBuckets(configuration)
        guard !buckets.isEmpty else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Files on Supabase need a bucket. Set “bucket”, or do without files: omit(.files) on the selection in code, "
                    + "\"clients\": { \"files\": \"none\" } in a configuration.")
        }
        self.init(
            address: context.project.storage, buckets: buckets, tokens: tokens, transport: context.transport,
            persistently: RetryingCaller(context.module, of: .supabase, patience: configuration.patience),
            now: context.module.now, plainHost: context.project.plainHost)
    }
}
