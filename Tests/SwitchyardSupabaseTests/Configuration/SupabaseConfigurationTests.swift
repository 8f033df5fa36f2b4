import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

@Suite struct SupabaseConfigurationTests {
    private static let plain = SupabaseConfiguration(url: "https://demo.supabase.co", key: "sb_publishable_1")

    private func decoded(_ text: String) throws -> SupabaseConfiguration {
        try JSONDecoder().decode(SupabaseConfiguration.self, from: Data(text.utf8))
    }

    @Test func `A file names what differs from the defaults`() throws {
        let configuration = try decoded(
            #"{"url":"https://demo.supabase.co","key":"k","bucket":"avatars","checkSeconds":2.5,"cacheBytes":1000}"#)
        #expect(configuration.bucket == "avatars")
        #expect(configuration.checkInterval == .milliseconds(2500))
        #expect(configuration.cacheBytes == 1000)
        #expect(configuration.keepsDocuments)
        #expect(configuration.serviceKey == nil)
        #expect(try decoded(#"{"url":"u","key":"k"}"#) == SupabaseConfiguration(url: "u", key: "k"))
    }

    @Test func `Realtime is switched off, or held to long polling, by a file too`() throws {
        let slow = try decoded(#"{"url":"u","key":"k","realtime":{"mode":"longPolling","heartbeatSeconds":12.5}}"#)
        #expect(slow.realtime == SupabaseRealtime(mode: .longPolling, heartbeat: .milliseconds(12_500)))
        let off = try decoded(#"{"url":"u","key":"k","realtime":{"mode":"off"}}"#)
        #expect(off.realtime == SupabaseRealtime(mode: .off))
    }

    @Test(arguments: [Duration.zero, .milliseconds(999), .seconds(26)])
    func `A heartbeat that the service or a token would not live to see is refused`(_ heartbeat: Duration) {
        var configuration = Self.plain
        configuration.realtime.heartbeat = heartbeat
        let error = #expect(throws: InfrastructureError.self) { try SupabaseModule(configuration).validate() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `A configuration is the same after a file, its keys aside`() throws {
        var configuration = Self.plain
        configuration.serviceKey = Secret("very-secret", name: "SERVICE")
        configuration.bucket = "files"
        configuration.isBucketPublic = true
        configuration.checkInterval = .milliseconds(250)
        configuration.realtime = SupabaseRealtime(mode: .longPolling, heartbeat: .seconds(10))
        configuration.keepsDocuments = false
        let data = try JSONEncoder().encode(configuration)
        #expect(!String(decoding: data, as: UTF8.self).contains("very-secret"))
        let decoder = JSONDecoder()
        decoder.userInfo[Secret.environmentKey] = ["SERVICE": "very-secret", "SECRET": "sb_publishable_1"]
        #expect(try decoder.decode(SupabaseConfiguration.self, from: data) == configuration)
    }

    @Test(arguments: [
        (#"{"url":"https://a.example","key":"k","buket":"x"}"#, "Did you mean “bucket”?"),
        (#"{"url":"https://a.example"}"#, "the required setting “key”"),
        (#"{"url":"https://a.example","anonKey":"k"}"#, "the required setting “key” is missing"),
        (#"{"url":"https://a.example","anonKey":"k"}"#, "“providers.supabase.anonKey”: found an unknown key"),
        (#"{"url":"https://a.example","key":"k","checkSeconds":0}"#, "checkSeconds"),
        (#"{"url":"https://a.example","key":"k","realtime":{"mode":"on"}}"#, "realtime"),
        (#"{"url":"https://a.example","key":"k","realtime":{"heartbeatSeconds":60}}"#, "heartbeatSeconds"),
        (#"{"url":"http://files.example","key":"k"}"#, "plain HTTP"),
        (#"{"url":"https://a.example/rest/v1","key":"k"}"#, "leave the path out"),
        (#"{"url":"https://supabase.com/dashboard/project/abc","key":"k"}"#, "the dashboard"),
        (#"{"url":"https://a.example","key":""}"#, "key is empty"),
    ])
    func `A mistake in a file is said with its place`(_ settings: String, _ words: String) async throws {
        let json = #"{"default":"supabase","providers":{"supabase":\#(settings)}}"#
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        do {
            let backend = try await InfrastructureFactory(configurable: [SupabaseModule.self]).make(configuration)
            await backend.shutDown()
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test(arguments: [
        "", "demo.supabase.co", "https://demo.supabase.co//", "https://demo.supabase.co?x=1", "ftp://demo.supabase.co",
        "http://192.168.1.7:8000", "http://127.0.0.1.example", "http://user@localhost",
    ])
    func `An address to which nothing can or may be sent is refused`(_ url: String) {
        #expect(throws: InfrastructureError.self) {
            try SupabaseModule(SupabaseConfiguration(url: url, key: "k")).validate()
        }
    }

    @Test(arguments: ["http://127.0.0.1:54321", "http://localhost", "http://[::1]:8000", "https://a.example/base"])
    func `This machine may be spoken to in clear text, and others over TLS`(_ url: String) throws {
        try SupabaseModule(SupabaseConfiguration(url: url, key: "k")).validate()
    }

    @Test(arguments: [
        ("http://192.168.1.20:54321", "192.168.1.20"), ("http://10.0.2.2:54321", "10.0.2.2"),
        ("http://172.20.0.3", "172.20.0.3"), ("http://studio.local:54321", "Studio.local"),
        ("http://studio:54321", "studio"), ("http://[fd00::1]:54321", "[fd00::1]"),
    ])
    func `A machine of a private network may be spoken to in clear text where it is named`(
        _ url: String, _ host: String
    ) async throws {
        var configuration = SupabaseConfiguration(url: url, key: "k", bucket: "files")
        let refusal = #expect(throws: InfrastructureError.self) { try SupabaseModule(configuration).validate() }
        #expect(refusal?.message.contains("set allowsPlainHTTPTo to “\(host.lowercased())”") == true)
        configuration.allowsPlainHTTPTo = host
        try SupabaseModule(configuration).validate()

        let transport = AnsweringTransport { _ in .text("{}", status: 400) }
        let module = SupabaseModule(configuration, transport: { transport })
        let auth = try await module.makeAuthClient(ModuleContext())
        await #expect(throws: AuthError.self) {
            try await auth.signIn(with: .password(email: "a@example.com", "p"))
        }
        let files = try await module.makeFileStorageClient(ModuleContext(auth: auth))
        await #expect(throws: FileStorageError.self) { try await files.metadata(of: "a.txt") }
        #expect(transport.requests.count == 2)
        #expect(transport.requests.allSatisfy { $0.headers["apikey"] == "k" })
        await files.shutDown()
        await auth.shutDown()
    }

    @Test(arguments: [
        ("http://192.168.1.20", "192.168.1.21", "plain HTTP"), ("http://8.8.8.8", "8.8.8.8", "private network"),
        ("http://files.example.com", "files.example.com", "private network"),
        ("http://172.32.0.1", "172.32.0.1", "private network"), ("http://10.0.0.1", "10.0.0.1:80", "a host alone"),
        ("http://10.0.0.1", "http://10.0.0.1", "a host alone"), ("http://134744072", "134744072", "private network"),
        ("http://10.0.0.1.example.com", "10.0.0.1.example.com", "private network"),
    ])
    func `Clear text goes to no other machine, and to none of the public network`(
        _ url: String, _ host: String, _ words: String
    ) {
        let configuration = SupabaseConfiguration(url: url, key: "k", allowsPlainHTTPTo: host)
        let error = #expect(throws: InfrastructureError.self) { try SupabaseModule(configuration).validate() }
        #expect(error?.message.contains(words) == true, "\(error as Any)")
    }

    @Test func `The exception for a private network can stand in a file`() throws {
        let json = #"{"url":"http://10.0.0.7","key":"k","allowsPlainHTTPTo":"10.0.0.7"}"#
        let configuration = try JSONDecoder().decode(SupabaseConfiguration.self, from: Data(json.utf8))
        #expect(configuration.allowsPlainHTTPTo == "10.0.0.7")
        #expect(String(decoding: try JSONEncoder().encode(configuration), as: UTF8.self).contains("allowsPlainHTTPTo"))
    }

    @Test func `Only hosted projects have a second host for files`() throws {
        #expect(
            try SupabaseProject("https://demo.supabase.co").storage == "https://demo.storage.supabase.co/storage/v1")
        for address in ["https://supabase.example.com", "http://localhost:8000", "https://api.demo.supabase.co"] {
            #expect(try SupabaseProject(address).storage == address + "/storage/v1")
        }
    }

    @Test func `The slash that a browser appends is left out`() throws {
        let project = try SupabaseProject("https://demo.supabase.co/")
        #expect(project.rest == "https://demo.supabase.co/rest/v1" && project.reference == "demo")
        #expect(project.id == (try SupabaseProject("https://demo.supabase.co")).id)
        #expect(throws: InfrastructureError.self) { try SupabaseProject("https://demo.supabase.co//") }
    }

    @Test func `Keys are in no description`() {
        let configuration = SupabaseConfiguration(
            url: "https://demo.supabase.co", key: "very-secret", serviceKey: "very-secret-too")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("very-secret"))
        #expect(!"\(configuration)".contains("very-secret"))
        #expect(!"\(SupabaseModule(configuration))".contains("very-secret"))
    }

    @Test func `There are no files without a bucket`() async throws {
        let factory = InfrastructureFactory(SupabaseModule(Self.plain))
        let failure = await #expect(throws: InfrastructureError.self) {
            () async throws -> Void in _ = try await factory.createFileStorageClient(provider: .supabase)
        }
        #expect(failure?.message.contains("bucket") == true)
    }

    @Test func `Clients are made without asking the project, and are Supabase's own underneath`() async throws {
        let transport = ScriptedTransport()
        var configuration = Self.plain
        configuration.bucket = "avatars"
        let module = SupabaseModule(configuration, transport: { transport })
        let context = ModuleContext()
        let auth = try await module.makeAuthClient(context)
        #expect(auth.unwrapped(as: SupabaseAuthAdapter.self) != nil)
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
        #expect(storage.unwrapped(as: SupabaseStorageAdapter.self) != nil)
        let files = try await module.makeFileStorageClient(ModuleContext(auth: auth))
        #expect(files.unwrapped(as: SupabaseFileStorageAdapter.self) != nil)
        #expect(transport.requests.isEmpty)
        await files.shutDown()
        await storage.shutDown()
        await auth.shutDown()
    }

    @Test func `Projects share no folder`() throws {
        let folder = ScratchSpace.url.appendingPathComponent("supabase-\(UInt64.random(in: 0..<UInt64.max))")
        func place(_ url: String) throws -> URL? {
            try SupabaseModule(SupabaseConfiguration(url: url, key: "k"), transport: { ScriptedTransport() })
                .clientContext(ModuleContext(stateFolder: folder)).folder("documents")
        }
        #expect(try place("https://a.example") != place("https://b.example"))
        #expect(try place("https://a.example") == place("https://a.example"))
        try FileManager.default.removeItem(at: folder)
    }
}
