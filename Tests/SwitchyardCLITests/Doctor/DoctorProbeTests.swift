import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardWire
import Testing

@testable import SwitchyardCLI

/// What the doctor asks of servers that are no local ones.
@Suite struct DoctorProbeTests {
    private func findings(apiKey: Secret) async throws -> [Finding] {
        let server = try LoopbackServer(ServerConfiguration()) { request in
            let key = request.queryItems.first { $0.name == "key" }?.value
            switch request.path {
            // As the vendor's hosts do.
            case "/": return .text("<!DOCTYPE html><title>Error 404 (Not Found)</title>", status: 404)
            case "/v1/projects" where key == "AIza-right": return .json(Array(#"{"projectId":"1"}"#.utf8))
            case "/v1/projects":
                return .json(
                    Array(#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}"#.utf8),
                    status: 400)
            default: return .json(Array(#"{"error":{"code":403}}"#.utf8), status: 403)
            }
        }
        var settings = FirebaseConfiguration(project: "demo", apiKey: apiKey, bucket: "demo.appspot.com")
        settings.hosts.identityToolkit = server.url
        settings.hosts.firestore = server.url
        settings.hosts.storage = server.url
        let (findings, transport) = (Findings(), PlatformTransport.make())
        _ = await FirebaseProbe(settings, [:], WebProbe(transport, DoctorOptions()), findings).run()
        await transport.shutDown()
        await server.stop()
        return findings.list
    }

    @Test func `A project is asked where it answers, and its key is never shown`() async throws {
        let right = try await findings(apiKey: "AIza-right")
        #expect(right.contains { $0.check == "apiKey" && $0.mark == .fine })
        #expect(!right.contains { $0.mark == .wrong })
        let wrong = try await findings(apiKey: "AIza-wrong")
        let key = try #require(wrong.first { $0.check == "apiKey" })
        #expect(
            key.mark == .wrong && key.text.contains("API key not valid") && key.cure?.contains("copy apiKey") == true)
        for finding in right + wrong { #expect(!finding.lines(hasColour: false).contains("AIza-")) }
    }
}
