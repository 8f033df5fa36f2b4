import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Which requests say to which trace they belong.
@Suite struct TracedRequestTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let address = "https://demo.example.com/"

    private static func trace() throws -> TraceContext {
        try #require(TraceContext(traceparent: parent, tracestate: "congo=t61rcWkgMzE"))
    }

    @Test func `Every kind of request carries the trace of its task, and the next one without a trace does not`()
        async throws
    {
        let replies = Array(repeating: ScriptedExchange.on(.get, Self.address, .status(204)), count: 6)
        let scripted = ScriptedTransport(replies)
        let transport = NamedTransport(scripted, program: nil)
        let request = HTTPRequest(.get, Self.address)
        let file = ScratchSpace.url.appending(path: "traced-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: file) }
        try await withRequest(trace: try Self.trace()) {
            _ = try await transport.send(request)
            _ = try await transport.send(request, within: .seconds(60))
            _ = try await transport.stream(request)
            _ = try await transport.upload(request, body: .bytes([1]))
            _ = try await transport.download(request, to: FileDestination(file.path))
        }
        _ = try await transport.send(request)
        let headers = scripted.requests.map(\.request.headers)
        #expect(headers.map { $0["traceparent"] } == Array(repeating: Self.parent, count: 5) + [nil])
        #expect(headers.map { $0["tracestate"] } == Array(repeating: "congo=t61rcWkgMzE", count: 5) + [nil])
        try scripted.verify()
    }

    @Test func `A connection that several callers use belongs to no trace`() async throws {
        let scripted = ScriptedTransport([
            .on(.get, Self.address, .status(204)), .webSocket("wss://demo.example.com/socket", []),
        ])
        let transport = NamedTransport(scripted, program: nil)
        var shared = HTTPRequest(.get, Self.address)
        shared.isShared = true
        try await withRequest(trace: try Self.trace()) { [shared] in
            _ = try await transport.send(shared)
            _ = try await transport.webSocket(WebSocketRequest("wss://demo.example.com/socket"))
        }
        #expect(scripted.requests.count == 2)
        #expect(scripted.requests.allSatisfy { !$0.request.headers.contains("traceparent") })
        try scripted.verify()
    }

    @Test func `Both providers send the trace to their project`() async throws {
        for address in [
            "https://identitytoolkit.googleapis.com/v1/accounts:signInWithPassword",
            "https://demo.supabase.co/auth/v1/token?grant_type=password",
        ] {
            let stub = ScriptedTransport([.on(.post, address, .status(400))])
            let auth: any AuthClient =
                address.contains("google")
                ? try await FirebaseModule(
                    FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]
                ) { stub }.makeAuthClient(ModuleContext())
                : try await SupabaseModule(SupabaseConfiguration(url: "https://demo.supabase.co", key: "key")) { stub }
                    .makeAuthClient(ModuleContext())
            // What was asked is enough.
            _ = try? await withRequest(trace: try Self.trace()) {
                try await auth.signIn(email: "a@example.com", password: "long enough")
            }
            #expect(stub.requests.first?.request.headers["traceparent"] == Self.parent)
            await auth.shutDown()
        }
    }
}
