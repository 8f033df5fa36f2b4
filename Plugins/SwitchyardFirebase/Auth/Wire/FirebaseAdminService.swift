import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// The calls about accounts that are made in the project's name, each with its token.
struct FirebaseAdminService: Sendable {
    /// A page has up to 1000 accounts, each of which may well be larger than a kilobyte.
    static let maximumAnswer = 64 << 20

    private let service: FirebaseAuthService
    private let tokens: ProjectTokens
    private let endpoint: FirebaseEndpoint
    private let project: String

    var isEmulator: Bool { endpoint.isEmulator }

    init(_ surroundings: FirebaseContext, _ tokens: ProjectTokens) {
        var service = FirebaseAuthService(surroundings)
        service.maximumAnswer = Self.maximumAnswer
        self.service = service
        endpoint = surroundings.endpoints.identityToolkit
        project = surroundings.configuration.project
        self.tokens = tokens
    }

    /// - Parameter call: Such as `accounts:lookup`.
    func post(_ call: String, _ body: JSONObject) async throws(AuthError) -> JSON {
        var request = HTTPRequest(.post, address(call), body: JSON.object(body).bytes())
        request.headers["Content-Type"] = "application/json"
        return try await send(request)
    }

    func get(_ call: String, _ query: [(name: String, value: String)]) async throws(AuthError) -> JSON {
        try await send(HTTPRequest(.get, "\(address(call))?\(FormCoding.encode(query, space: .percent))"))
    }

    private func address(_ call: String) -> String {
        "\(endpoint.address)/v1/projects/\(PercentCoding.encode(project))/\(call)"
    }

    /// Sends the request, and repeats it once with a new token if the first one is refused.
    private func send(_ request: HTTPRequest) async throws(AuthError) -> JSON {
        var refused: Secret?
        while true {
            let token = try await tokens.token(for: endpoint, replacing: refused)
            var request = request
            for (name, value) in tokens.headers(with: token, for: project) { request.headers[name] = value }
            do throws(FirebaseAuthFailure) {
                return try await service.send(request, to: endpoint)
            } catch {
                guard refused == nil, case .refused(_, 401) = error.kind else { throw AuthError(error, in: .project) }
            }
            refused = token
        }
    }
}
