import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Calls of functions in a project's database.
struct PostgRESTService: Sendable {
    let project: SupabaseProject
    /// Whose token goes along.
    let tokens: SupabaseTokens
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
                .post, "\(project.rest)/rpc/\(function)", body: JSON.object(arguments).bytes(),
                isIdempotent: isIdempotent)
            let proof = try await proof(for: batch, isRefused: isRefused)
            request.headers = ["Content-Type": "application/json"]
            proof.sign(&request.headers)
            request.maximumBodySize = Self.maximumAnswer
            request.idleLimit = Self.idleLimit
            let response = try await send(request)
            if response.isSuccess { return try parse(response.body) }
            let failure = PostgRESTFailure(status: response.status, body: response.body)
            guard failure.isAboutToken, tokens.canRefresh, !isRefused else {
                throw StorageError(failure, asked: proof, issuer: tokens.issuer)
            }
            isRefused = true
        }
    }

    private func proof(
        for batch: OutgoingBatch?, isRefused: Bool
    ) async throws(StorageError) -> SupabaseTokens.Proof {
        let proof: SupabaseTokens.Proof
        do throws(SupabaseTokens.Failure) {
            proof = try await tokens.proof(isRefused: isRefused)
        } catch {
            throw StorageError(
                .unauthenticated, error.message, isRetryable: error.isTemporary, underlying: error.cause)
        }
        if let batch, tokens.issuer != nil, proof.user?.userID != batch.userID {
            throw StorageError(.unavailable, "Another user has signed in since the batch was written.")
        }
        return proof
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
