import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Calls of functions in a project's database.
struct PostgRESTService: Sendable {
    /// The project's address, without a slash at its end.
    let url: String
    /// The key that apps carry.
    let key: Secret
    /// Whose token goes along; with nobody's, the project's key speaks for everybody.
    let auth: (any AuthClient)?
    let transport: any Transport

    private static let deadline = Duration.seconds(60)
    private static let idleLimit = Duration.seconds(30)
    private static let maximumAnswer = 256 << 20

    /// - Parameters:
    ///   - isIdempotent: Whether the call may be sent again when its connection broke.
    ///   - batch: The batch to be committed, which must not travel in another user's name.
    func call(
        _ function: String, _ arguments: JSONObject, isIdempotent: Bool, for batch: OutgoingBatch? = nil
    ) async throws(StorageError) -> JSON {
        var isRefused = false
        while true {
            var request = HTTPRequest(
                .post, "\(url)/rest/v1/rpc/\(function)", body: JSON.object(arguments).bytes(),
                isIdempotent: isIdempotent)
            request.headers = ["Content-Type": "application/json", "apikey": key.reveal()]
            request.headers.add("Authorization", "Bearer \(try await bearer(for: batch, isRefused: isRefused))")
            request.maximumBodySize = Self.maximumAnswer
            request.idleLimit = Self.idleLimit
            let response = try await send(request)
            if response.isSuccess { return try parse(response.body) }
            let failure = PostgRESTFailure(status: response.status, body: response.body)
            guard failure.isAboutToken, auth != nil, !isRefused else { throw StorageError(failure) }
            isRefused = true
        }
    }

    private func bearer(for batch: OutgoingBatch?, isRefused: Bool) async throws(StorageError) -> String {
        var token: AccessToken?
        if let auth {
            do throws(AuthError) {
                token = try await auth.accessToken(refreshing: isRefused)
            } catch {
                guard error.code == .notSignedIn else {
                    throw StorageError(
                        .unauthenticated, "There is no token: \(error.message)", isRetryable: error.isRetryable,
                        underlying: error)
                }
            }
            if let batch, token?.userID != batch.userID {
                throw StorageError(.unavailable, "Another user has signed in since the batch was written.")
            }
        }
        return (token?.value ?? key).reveal()
    }

    private func send(_ request: HTTPRequest) async throws(StorageError) -> HTTPResponse {
        let transport = transport
        do throws(TransportError) {
            return try await withDeadline(Self.deadline, isIdempotent: request.isIdempotent) {
                () throws(TransportError) in try await transport.send(request)
            }
        } catch {
            throw StorageError(error)
        }
    }

    private func parse(_ body: [UInt8]) throws(StorageError) -> JSON {
        if body.isEmpty { return .null }
        do throws(JSONError) {
            return try JSON(parsing: body)
        } catch {
            throw StorageError(.unavailable, "The server's answer was cut short.", underlying: error)
        }
    }
}
