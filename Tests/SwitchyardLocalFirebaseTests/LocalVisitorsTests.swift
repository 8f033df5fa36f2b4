import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// A developer's browser shows somebody else's page while a local Firebase runs.
@Suite struct LocalVisitorsTests {
    private static let commit = #"""
        {"writes":[{"update":{"name":"projects/demo-switchyard/databases/(default)/documents/c/x","fields":{}}}]}
        """#

    @Test func `A page elsewhere neither reads nor writes nor sets a fault`() async throws {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        let client = try LocalClient(options)
        let server = client.firebase.server
        let root = "/v1/projects/demo-switchyard/databases/(default)/documents"
        for (line, body) in [
            ("GET / HTTP/1.1", ""), ("GET \(root)/c HTTP/1.1", ""), ("OPTIONS \(root):commit HTTP/1.1", ""),
            ("POST \(root):commit HTTP/1.1", Self.commit),
            ("POST /_faults HTTP/1.1", #"{"fault":"drop","times":null}"#),
            ("POST /emulator/v1/projects/demo-switchyard/streamFaults HTTP/1.1", #"{"expireTokens":true}"#),
            ("POST /identitytoolkit.googleapis.com/v1/accounts:signUp?key=any HTTP/1.1", "{}"),
            ("GET /emulator/v1/projects/demo-switchyard/oobCodes HTTP/1.1", ""),
        ] {
            for attack in [
                ["Host: 127.0.0.1", "Origin: https://evil.example"], ["Host: 127.0.0.1", "Origin: null"],
                ["Host: evil.example:\(server.port)"],
                ["Host: evil.example:\(server.port)", "Origin: http://evil.example:\(server.port)"],
            ] {
                let answer = try await PlainClient.ask(
                    server, line, attack[0], attack.count > 1 ? attack[1] : "Accept: */*", "Content-Type: text/plain",
                    body: body)
                #expect(answer.status == 403, "\(line) \(attack)")
                #expect(!answer.head.lowercased().contains("access-control-"), "\(line) \(attack)")
            }
        }
        #expect(try await client.query(["from": [["collectionId": "c"]]], as: "owner") == [])
        #expect(try await client.send(.get, "/_faults").json == [])
        await client.stop()
    }

    @Test func `With a folder, it listens where it did the last time`() async throws {
        var options = LocalFirebaseOptions()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
        options.folder = folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try LocalFirebase(options)
        await first.stop()
        let second = try LocalFirebase(options)
        #expect(second.port == first.port)
        await second.stop()
        var configuration = ServerConfiguration()
        configuration.port = first.port
        let other = try LoopbackServer(configuration) { _ in .text("here") }
        let third = try LocalFirebase(options)
        #expect(third.port != first.port)
        await third.stop()
        await other.stop()
    }

    @Test func `A port that is taken, and a folder that cannot be made, are reported with the reason and the option`()
        async throws
    {
        let other = try LoopbackServer { _ in .text("here") }
        var options = LocalFirebaseOptions()
        options.port = other.port
        let taken = #expect(throws: LocalFirebaseError.self) { try LocalFirebase(options) }
        #expect(
            "\(taken!)".contains(
                "cannot listen on port \(other.port): Address already in use. End the program that uses the port, or choose "
                    + "another with --port."))
        await other.stop()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        options = LocalFirebaseOptions()
        options.folder = file.appendingPathComponent("inside")
        let folder = #expect(throws: LocalFirebaseError.self) { try LocalFirebase(options) }
        #expect("\(folder!)".contains("cannot be created: Not a directory."))
    }

    @Test func `A page that was named may do what its user may`() async throws {
        var options = LocalFirebaseOptions()
        options.origins = ["https://app.example.com"]
        let client = try LocalClient(options)
        let answer = try await PlainClient.ask(
            client.firebase.server, "OPTIONS /v1/x HTTP/1.1", "Host: 127.0.0.1", "Origin: https://app.example.com",
            "Access-Control-Request-Method: POST")
        #expect(answer.status == 204)
        #expect(answer.head.contains("Access-Control-Allow-Origin: https://app.example.com"))
        await client.stop()
        options.origins = ["app.example.com/x"]
        let error = #expect(throws: LocalFirebaseError.self) { try LocalFirebase(options) }
        #expect(error?.message.contains("“app.example.com/x” is not the origin of a web page") == true)
    }
}
