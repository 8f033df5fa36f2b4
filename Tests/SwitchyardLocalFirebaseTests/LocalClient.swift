import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

/// A local Firebase with a plain HTTP client in front of it.
struct LocalClient: Sendable {
    let firebase: LocalFirebase
    let transport = CurlTransport()

    struct Answer {
        let status: Int
        let json: JSON
        let headers: HTTPHeaders
        /// The code in front of an error's text.
        var error: String? {
            json["error"]?["message"]?.string.map { text in
                String(text.prefix { $0 != ":" }).trimmingCharacters(in: .whitespaces)
            }
        }
        var errorStatus: String? { (json["error"] ?? json[0]?["error"])?["status"]?.string }
    }

    init(_ options: LocalFirebaseOptions = LocalFirebaseOptions()) throws {
        firebase = try LocalFirebase(options)
    }

    init(time: LocalTime, folder: URL? = nil, isOpen: Bool = false) throws {
        var options = LocalFirebaseOptions()
        options.now = { time.now }
        options.folder = folder
        options.allowsEverything = isOpen
        try self.init(options)
    }

    func stop() async {
        await transport.shutDown()
        await firebase.stop()
    }

    func send(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, authorization: String? = nil
    ) async throws -> Answer {
        var request = HTTPRequest(method, firebase.host.isEmpty ? path : "http://\(firebase.host)\(path)")
        request.redirects = .surface
        if let body {
            request.body = body.bytes()
            request.headers["Content-Type"] = "application/json"
        }
        request.headers["Authorization"] = authorization
        let response = try await transport.send(request)
        let json = response.body.isEmpty ? JSON.null : (try? JSON(parsing: response.body)) ?? .null
        return Answer(status: response.status, json: json, headers: response.head.headers)
    }

    // MARK: Auth

    func auth(_ call: String, _ body: JSON, version: String = "v1", isAdmin: Bool = false) async throws -> Answer {
        try await send(
            .post, "/identitytoolkit.googleapis.com/\(version)/\(call)?key=any", body,
            authorization: isAdmin ? "Bearer owner" : nil)
    }

    func refresh(_ token: String) async throws -> Answer {
        try await send(
            .post, "/securetoken.googleapis.com/v1/token?key=any",
            ["grant_type": "refresh_token", "refresh_token": .string(token)])
    }

    func signUp(_ email: String = "ada@example.com", _ password: String = "s3cret!!") async throws -> Session {
        try Session(await auth("accounts:signUp", ["email": .string(email), "password": .string(password)]))
    }

    struct Session {
        let id: String
        let idToken: String
        let refreshToken: String
        struct Refused: Error, CustomStringConvertible { let description: String }

        init(_ answer: Answer) throws {
            guard let idToken = answer.json["idToken"]?.string ?? answer.json["id_token"]?.string,
                let refreshToken = answer.json["refreshToken"]?.string ?? answer.json["refresh_token"]?.string
            else { throw Refused(description: "\(answer.status) \(answer.json.text())") }
            self.idToken = idToken
            self.refreshToken = refreshToken
            id = LocalClient.claims(idToken)["sub"]?.string ?? ""
        }
    }

    static func claims(_ token: String) -> JSON { part(1, of: token) }
    static func header(_ token: String) -> JSON { part(0, of: token) }

    private static func part(_ index: Int, of token: String) -> JSON {
        let parts = token.split(separator: ".")
        guard parts.count > index, let bytes = Base64.decode(parts[index], alphabet: .url) else { return .null }
        return (try? JSON(parsing: bytes)) ?? .null
    }

    /// The newest code in the mail to this address.
    func mailedCode(to email: String) async throws -> (code: String, link: String) {
        let codes = try await send(.get, "/emulator/v1/projects/demo-switchyard/oobCodes").json["oobCodes"]?.array ?? []
        let last = codes.last { $0["email"]?.string == email || $0["newEmail"]?.string == email }
        return (last?["oobCode"]?.string ?? "", last?["oobLink"]?.string ?? "")
    }

    func phonedCode(to number: String) async throws -> String {
        let answer = try await send(.get, "/emulator/v1/projects/demo-switchyard/verificationCodes")
        return answer.json["verificationCodes"]?.array?.last { $0["phoneNumber"]?.string == number }?["code"]?.string
            ?? ""
    }
}
