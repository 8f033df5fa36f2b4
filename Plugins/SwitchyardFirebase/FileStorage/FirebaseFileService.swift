import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// One-shot calls to Firebase's file storage: authorization, sending, retries and error mapping.
struct FirebaseFileService: Sendable {
    static let callDeadline = Duration.seconds(60)

    let bucket: String
    let endpoint: FirebaseEndpoint
    private(set) var tokens: FirebaseTokens
    /// Header fields that identify the app. They contain no key, which storage does not accept.
    let appHeaders: [(String, String)]
    let transport: any Transport
    /// Retries calls that are safe to repeat, as long as the failure may be temporary.
    let persistently: RetryingCaller
    var clock: any Clock<Duration> { persistently.clock }
    let now: @Sendable () -> Timestamp

    // MARK: Addresses

    /// The address of the bucket, for lists and uploads.
    func address(_ query: KeyValuePairs<String, String> = [:]) -> String { address(of: nil, query) }

    /// - Parameter path: Encoded as a single path segment, including its slashes.
    func address(of path: FilePath?, _ query: KeyValuePairs<String, String> = [:]) -> String {
        var text = "\(endpoint.address)/v0/b/\(PercentCoding.encode(bucket))/o"
        if let path { text += "/" + PercentCoding.encode(path.rawValue) }
        let items = query.map { "\($0.key)=\(PercentCoding.encode($0.value))" }
        return items.isEmpty ? text : text + "?" + items.joined(separator: "&")
    }

    // MARK: Calls

    /// The complete answer to a successful call.
    func call(
        _ request: HTTPRequest, about subject: FileStorageError.FirebaseSubject
    ) async throws(FileStorageError) -> HTTPResponse {
        try await authorized(request, about: subject) { request throws(TransportError) in
            try await transport.send(request, within: Self.callDeadline, clock: clock)
        }
    }

    /// Sends with the current tokens, and once more with new ones if they are refused.
    func authorized<Answer: HTTPAnswer>(
        _ request: HTTPRequest, about subject: FileStorageError.FirebaseSubject,
        _ send: (HTTPRequest) async throws(TransportError) -> Answer
    ) async throws(FileStorageError) -> Answer {
        var refused: FirebaseTokens.RequestCredentials?
        while true {
            let (complete, credentials) = try await sealed(request, replacing: refused)
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(complete)
            } catch {
                throw FileStorageError(error)
            }
            if answer.head.isSuccess { return answer }
            let failure = FileStorageError(
                firebase: await answer.whole(), about: subject, in: bucket, now: now())
            guard answer.head.status == 401, let credentials, refused == nil, tokens.canRefresh else { throw failure }
            refused = credentials
        }
    }

    /// - Returns: The request with its tokens, and the tokens. Requests to any address other than the service's get none.
    private func sealed(
        _ request: HTTPRequest, replacing refused: FirebaseTokens.RequestCredentials?
    ) async throws(FileStorageError) -> (HTTPRequest, FirebaseTokens.RequestCredentials?) {
        var request = request
        request.headers.add("X-Firebase-Storage-Version", "swift/1.0")
        for (name, value) in appHeaders { request.headers.add(name, value) }
        do throws(FirebaseTokens.Failure) {
            guard isOurs(request.url) else {
                try await tokens.checkOwner()
                return (request, nil)
            }
            let credentials = try await tokens.credentials(for: endpoint, replacing: refused)
            if let user = credentials.user {
                request.headers["Authorization"] = "Firebase \(user.value.reveal())"
            } else if let token = credentials.project, let credential = tokens.credential {
                for (name, value) in credential.headers(with: token, for: tokens.project) {
                    request.headers[name] = value
                }
            }
            if let app = credentials.app { request.headers["X-Firebase-AppCheck"] = app.reveal() }
            return (request, credentials)
        } catch {
            throw FileStorageError(error)
        }
    }

    /// Whether tokens may be sent to an address, which the server may have returned.
    private func isOurs(_ address: String) -> Bool {
        guard let target = try? URLParts(validating: address), let home = try? URLParts(validating: endpoint.address)
        else { return false }
        if target.origin == home.origin { return true }
        // A local server may return another name of this machine.
        let there = try? FirebaseEndpoint(host: target.origin)
        return home.scheme == "http" && target.scheme == "http" && endpoint.mayCarryTokens
            && target.effectivePort == home.effectivePort && there?.mayCarryTokens == true
    }

    /// This service for an operation of several calls, which fail if another user signs in before the last one.
    func bound() async throws(FileStorageError) -> FirebaseFileService {
        var service = self
        do throws(FirebaseTokens.Failure) {
            service.tokens = try await tokens.bound()
        } catch {
            throw FileStorageError(error)
        }
        return service
    }

    /// The user of a bound service.
    var owner: String { tokens.owner?.userID ?? UploadSession.noUser }

    // MARK: Objects

    func object(_ path: FilePath) async throws(FileStorageError) -> FirebaseObject {
        try await persistently("metadata") { () throws(FileStorageError) in
            try FirebaseObject(try await call(HTTPRequest(.get, address(of: path)), about: .object).body)
        }
    }

    static func json(_ method: HTTPMethod, _ url: String, _ body: JSON) -> HTTPRequest {
        HTTPRequest(method, url, headers: ["Content-Type": "application/json; charset=utf-8"], body: body.bytes())
    }
}

extension FirebaseFileService {
    /// - Throws: `.invalidConfiguration` without a bucket.
    init(_ context: FirebaseContext, tokens: FirebaseTokens) throws(InfrastructureError) {
        let configuration = context.configuration
        guard let bucket = configuration.bucket, !bucket.isEmpty else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Files on Firebase need a bucket. Set “bucket” to the name that the console shows under Storage, or do "
                    + "without files: omit(.files) on the selection in code, \"clients\": { \"files\": \"none\" } in a "
                    + "configuration.")
        }
        self.init(
            bucket: bucket, endpoint: context.endpoints.storage, tokens: tokens,
            appHeaders: configuration.appID.map { [("X-Firebase-GMPID", $0)] } ?? [],
            transport: context.transport,
            persistently: RetryingCaller(context.module, of: .firebase, patience: configuration.patience),
            now: context.module.now)
    }
}
