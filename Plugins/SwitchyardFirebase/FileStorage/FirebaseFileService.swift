import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// One-shot calls to Firebase's file storage: everything that authorises, sends, repeats and maps failures, once.
struct FirebaseFileService: Sendable {
    static let callDeadline = Duration.seconds(60)

    let bucket: String
    let endpoint: FirebaseEndpoint
    private(set) var tokens: FirebaseTokens
    /// Header fields that name the app; no key is among them, storage takes none.
    let appHeaders: [(String, String)]
    let transport: any Transport
    /// Again and again while a failure may pass: for calls that do no harm when made twice.
    let persistently: PatientCaller
    var clock: any Clock<Duration> { persistently.clock }
    let now: @Sendable () -> Timestamp

    // MARK: Addresses

    /// Of the bucket: for lists and uploads.
    func address(_ query: KeyValuePairs<String, String> = [:]) -> String { address(of: nil, query) }

    /// - Parameter path: One segment in the address, its slashes coded.
    func address(of path: FilePath?, _ query: KeyValuePairs<String, String> = [:]) -> String {
        var text = "\(endpoint.address)/v0/b/\(PercentCoding.encode(bucket))/o"
        if let path { text += "/" + PercentCoding.encode(path.rawValue) }
        let items = query.map { "\($0.key)=\(PercentCoding.encode($0.value))" }
        return items.isEmpty ? text : text + "?" + items.joined(separator: "&")
    }

    // MARK: Calls

    /// The whole answer to a call that succeeded.
    func call(
        _ request: HTTPRequest, about subject: FileStorageError.FirebaseSubject
    ) async throws(FileStorageError) -> HTTPResponse {
        try await authorized(request, about: subject) { request throws(TransportError) in
            try await transport.send(request, within: Self.callDeadline, clock: clock)
        }
    }

    /// Sends with the tokens of the moment, and once more with new ones when these are refused.
    func authorized<Answer: HTTPAnswer>(
        _ request: HTTPRequest, about subject: FileStorageError.FirebaseSubject,
        _ send: (HTTPRequest) async throws(TransportError) -> Answer
    ) async throws(FileStorageError) -> Answer {
        var refused: FirebaseTokens.Proof?
        while true {
            let (complete, proof) = try await sealed(request, replacing: refused)
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(complete)
            } catch {
                throw FileStorageError(error)
            }
            if answer.head.isSuccess { return answer }
            let failure = FileStorageError(firebase: await answer.whole(), about: subject, now: now())
            guard answer.head.status == 401, let proof, refused == nil, tokens.canRefresh else { throw failure }
            refused = proof
        }
    }

    /// - Returns: Also what goes along; nothing does to any other place than the service's.
    private func sealed(
        _ request: HTTPRequest, replacing refused: FirebaseTokens.Proof?
    ) async throws(FileStorageError) -> (HTTPRequest, FirebaseTokens.Proof?) {
        var request = request
        request.headers.add("X-Firebase-Storage-Version", "swift/1.0")
        for (name, value) in appHeaders { request.headers.add(name, value) }
        do throws(FirebaseTokens.Failure) {
            guard isOurs(request.url) else {
                try await tokens.checkOwner()
                return (request, nil)
            }
            let proof = try await tokens.proof(for: endpoint, replacing: refused)
            if let user = proof.user {
                request.headers["Authorization"] = "Firebase \(user.value.reveal())"
            } else if let token = proof.project, let credential = tokens.credential {
                for (name, value) in credential.headers(with: token, for: tokens.project) {
                    request.headers[name] = value
                }
            }
            if let app = proof.app { request.headers["X-Firebase-AppCheck"] = app.reveal() }
            return (request, proof)
        } catch {
            throw FileStorageError(error)
        }
    }

    /// Whether an address, which may be one that the server has named, is where tokens belong.
    private func isOurs(_ address: String) -> Bool {
        guard let target = try? URLParts(validating: address), let home = try? URLParts(validating: endpoint.address)
        else { return false }
        if target.origin == home.origin { return true }
        // A local server may call itself by another of this machine's names.
        let there = try? FirebaseEndpoint(host: target.origin)
        return home.scheme == "http" && target.scheme == "http" && endpoint.mayCarryTokens
            && target.effectivePort == home.effectivePort && there?.mayCarryTokens == true
    }

    /// This service for operations of several calls: all of them in the name of the user who is signed in now, or none.
    func bound() async throws(FileStorageError) -> FirebaseFileService {
        var service = self
        do throws(FirebaseTokens.Failure) {
            service.tokens = try await tokens.bound()
        } catch {
            throw FileStorageError(error)
        }
        return service
    }

    /// In whose name a bound service calls.
    var owner: String { tokens.owner?.userID ?? UploadSession.nobody }

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
    init(_ surroundings: FirebaseSurroundings, tokens: FirebaseTokens) throws(InfrastructureError) {
        let configuration = surroundings.configuration
        guard let bucket = configuration.bucket, !bucket.isEmpty else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Files on Firebase need a bucket. Set “bucket” to the name that the console shows under Storage, or do "
                    + "without files: omit(.files) on the selection in code, \"clients\": { \"files\": \"none\" } in a "
                    + "configuration.")
        }
        self.init(
            bucket: bucket, endpoint: surroundings.endpoints.storage, tokens: tokens,
            appHeaders: configuration.appID.map { [("X-Firebase-GMPID", $0)] } ?? [],
            transport: surroundings.transport,
            persistently: PatientCaller(surroundings.context, of: .firebase, patience: configuration.patience),
            now: surroundings.context.now)
    }
}
