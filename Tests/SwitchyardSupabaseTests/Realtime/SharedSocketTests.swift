import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// One connection to the realtime service for all clients of a module that ask in one name.
struct SharedSocketTests {
    private func withStub(_ body: (MessagingStub, SupabaseModule) async throws -> Void) async throws {
        let stub = try MessagingStub()
        do {
            try await body(stub, SupabaseModule(stub.configuration, transport: { CurlTransport() }))
        } catch {
            await stub.stop()
            throw error
        }
        await stub.stop()
    }

    @Test func `Live queries and messages share a connection, which stays until the last of them is gone`()
        async throws
    {
        try await withStub { stub, module in
            let context = ModuleContext(auth: FixedAuthClient.signedIn("alice"))
            let messaging = try await module.makeMessagingClient(context)
            let documents = try module.clientContext(context).session.realtime(for: .documents)
            try await messaging.subscribe(to: "news")
            let hints = try documents.socket.join(
                "documents:notes", RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
            #expect(try await hints.next() == .joined)
            #expect(try await hints.next() == .confirmed)
            #expect(stub.connections == 1)

            await messaging.shutDown()
            await stub.send("documents:notes", ["n": 1])
            guard case .broadcast = try await hints.next() else {
                Issue.record("the channel is over")
                return
            }
            #expect(stub.connections == 1)
            await documents.release()
            #expect(try await hints.next() == nil)
            try await eventually("the connection is closed") { stub.connections == 0 }
        }
    }

    @Test func `Shutting down twice gives up one part only`() async throws {
        try await withStub { stub, module in
            let context = ModuleContext(auth: FixedAuthClient.signedIn("alice"))
            let first = try await module.makeMessagingClient(context)
            let second = try await module.makeMessagingClient(context)
            try await first.subscribe(to: "news")
            try await second.subscribe(to: "news")
            #expect(stub.connections == 2, "two clients of one use may want the same topic")
            await first.shutDown()
            await first.shutDown()
            try await eventually("its connection is closed") { stub.connections == 1 }
            try await second.subscribe(to: "weather")
            await second.shutDown()
        }
    }

    @Test func `Only those share who ask in one name`() throws {
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k"), transport: { ScriptedTransport() })
        func session(_ auth: (any AuthClient)?) throws -> SupabaseSession {
            try module.clientContext(ModuleContext(auth: auth)).session
        }
        let (alice, ben) = (FixedAuthClient.signedIn("alice"), FixedAuthClient.signedIn("ben"))
        let (first, signedOut) = (try session(alice), try session(nil))
        #expect(try session(alice) === first)
        #expect(try session(alice.intercepted(by: Silence())) === first)
        #expect(try session(ben) !== first)
        #expect(try session(nil) === signedOut)
    }

    @Test func `A session that no client holds is recreated`() throws {
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k"), transport: { ScriptedTransport() })
        weak var first = try module.clientContext(ModuleContext()).session
        #expect(first == nil)
        weak var socket: RealtimeSocket?
        do {
            let share = try module.clientContext(ModuleContext()).session.realtime(for: .messages)
            socket = share.socket
            first = try module.clientContext(ModuleContext()).session
            #expect(first != nil && socket != nil)
        }
        #expect(first == nil && socket == nil)
    }

    @Test func `The observer is notified once for all callers`() throws {
        let log = EventLog()
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k"), transport: { ScriptedTransport() })
        let lines = try #require(SupabaseCallerSockets(try module.clientContext(ModuleContext(observer: log))))
        for text in ["one", "one", "other", "one"] { lines.notice(text) }
        #expect(log.kinds == [.notice("one"), .notice("other")])
    }

    @Test(arguments: [SupabaseRealtime.Mode.longPolling, .off])
    func `Callers join no channels where web sockets are not wanted`(_ mode: SupabaseRealtime.Mode) throws {
        var configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "k")
        configuration.realtime.mode = mode
        let module = SupabaseModule(configuration, transport: { ScriptedTransport() })
        let lines = SupabaseCallerSockets(try module.clientContext(ModuleContext()))
        #expect(lines == nil)
    }

    @Test func `Without realtime there are no messages, and live queries poll`() async throws {
        var configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "k")
        configuration.realtime.mode = .off
        let module = SupabaseModule(configuration, transport: { ScriptedTransport() })
        let error = await #expect(throws: InfrastructureError.self) {
            () async throws -> Void in _ = try await module.makeMessagingClient(ModuleContext())
        }
        #expect(error?.code == .unsupported)
        await (try await module.makeStorageClient(ModuleContext())).shutDown()
    }
}

private struct Silence: CallInterceptor {}
