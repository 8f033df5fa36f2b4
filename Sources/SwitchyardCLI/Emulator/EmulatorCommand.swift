import Dispatch
import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardPage
import SwitchyardServerKit
import SwitchyardSupabase

/// `switchyard emulator firebase`, `switchyard emulator supabase`, and both with `switchyard emulator all`
struct EmulatorCommand: ToolCommand {
    private(set) var firebase: LocalFirebaseOptions?
    private(set) var supabase: LocalSupabaseOptions?
    /// The project whose tokens the local Supabase accepts: an address, or a project ID.
    private(set) var trusted: String?
    /// Where the page listens; `nil` for no page.
    private(set) var page: Page.Options?
    /// What is read at the start and written at the end.
    private let contents: EmulatorContents
    private let faults: [JSONObject]
    private let printsRequests: Bool

    init(_ words: [String]) throws(UsageError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "firebase":
            let given = try Options(rest, of: Commands.named("emulator firebase"))
            (page, contents, faults, printsRequests) = try EmulatorCommand.shared(given)
            firebase = try EmulatorCommand.firebase(given, port: "--port")
        case "supabase":
            let given = try Options(rest, of: Commands.named("emulator supabase"))
            (page, contents, faults, printsRequests) = try EmulatorCommand.shared(given)
            supabase = try EmulatorCommand.supabase(given, port: "--port")
            trusted = given["--trust-firebase"]
        case "all":
            let given = try Options(rest, of: Commands.named("emulator all"))
            (page, contents, faults, printsRequests) = try EmulatorCommand.shared(given, isDivided: true)
            firebase = try EmulatorCommand.firebase(given, port: "--firebase-port")
            supabase = try EmulatorCommand.supabase(given, port: "--supabase-port")
            if let folder = EmulatorCommand.folder(given) {
                firebase?.folder = folder.appendingPathComponent("firebase", isDirectory: true)
                supabase?.folder = folder.appendingPathComponent("supabase", isDirectory: true)
            }
            // Supabase requires this claim in all tokens.
            if given["--claims"] == nil { firebase?.claims = ["role": "authenticated"] }
            if given["--bucket"] == nil { supabase?.buckets = ["files"] }
        case let name?:
            throw UsageError("there is no emulator “\(name)”; use “firebase”, “supabase” or “all”")
        case nil: throw UsageError("missing subcommand. Use “firebase”, “supabase” or “all”")
        }
    }

    /// What all of them take.
    private static func shared(
        _ given: Options, isDivided: Bool = false
    ) throws(UsageError) -> (Page.Options?, EmulatorContents, [JSONObject], Bool) {
        (
            try page(given), try EmulatorContents(given, isDivided: isDivided),
            try EmulatorFaults.read(given["--faults"]),
            given.has("--log")
        )
    }

    /// The name of a project, which stands in paths and in shell variables.
    private static func checked(_ project: String) throws(UsageError) -> String {
        let isName = project.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:".contains($0)) }
        guard isName, !project.isEmpty else {
            throw UsageError("“\(project)” is not a project; use letters, digits, “-” and “_”")
        }
        return project
    }

    /// The names in an option that lists some.
    private static func names(_ given: Options, _ option: String) throws(UsageError) -> [String]? {
        guard let names = given[option]?.split(separator: ",").map(String.init) else { return nil }
        let wrong = names.first { name in
            !name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
        }
        if let wrong { throw UsageError("“\(wrong)” in “\(option)” is not a name; use letters, digits, “-” and “_”") }
        return names
    }

    private static func firebase(_ given: Options, port name: String) throws(UsageError) -> LocalFirebaseOptions {
        var options = LocalFirebaseOptions()
        options.port = try port(given, name) ?? options.port
        if let project = given["--project"] { options.project = try checked(project) }
        options.folder = folder(given)
        options.origins = try origins(given)
        options.allowsEverything = given.has("--open")
        options.hasDomainRules = given.has("--domain")
        options.signsTokens = given.has("--signed-tokens")
        for claim in given["--claims"]?.split(separator: ",") ?? [] {
            let parts = claim.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw UsageError("“\(claim)” is not a claim; write “--claims role=authenticated”")
            }
            options.claims[String(parts[0])] = String(parts[1])
        }
        return options
    }

    private static func supabase(_ given: Options, port name: String) throws(UsageError) -> LocalSupabaseOptions {
        var options = LocalSupabaseOptions()
        options.port = try port(given, name) ?? options.port
        options.folder = folder(given)
        options.origins = try origins(given)
        options.auth.autoconfirmsEmails = !given.has("--confirm")
        options.auth.allowsManualLinking = !given.has("--no-linking")
        options.auth.allowsPhones = !given.has("--no-phone")
        options.auth.signsWithKey = given.has("--signing-keys")
        options.allowsEverything = given.has("--open")
        options.allowsAggregates = given.has("--aggregates")
        options.hasGateway = !given.has("--no-gateway")
        options.buckets = given["--bucket"]?.split(separator: ",").map(String.init) ?? []
        options.scripts = [DocumentSchema.sql] + (given.has("--domain") ? [DocumentSchema.domainRules] : [])
        if let schemas = try names(given, "--schemas") { options.schemas = schemas }
        if let providers = try names(given, "--providers") { options.auth.providers = Set(providers) }
        for entry in given["--phone-codes"]?.split(separator: ",") ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[1].count == 6 else {
                throw UsageError(
                    "“\(entry)” is not a phone number with a code of six digits; write “--phone-codes 15551112222=123456”"
                )
            }
            options.auth.phoneCodes[parts[0].filter { $0 != "+" }] = String(parts[1])
        }
        if let text = given["--database"] {
            let address = try DatabaseAddress(text)
            options.database = .given(port: address.port, user: address.user, name: address.name)
        }
        return options
    }

    static func port(_ given: Options, _ name: String) throws(UsageError) -> UInt16? {
        guard let text = given[name] else { return nil }
        guard let port = UInt16(text) else {
            throw UsageError("“\(text)” is not a port; use a number from 0 to 65535")
        }
        return port
    }

    private static func page(_ given: Options) throws(UsageError) -> Page.Options? {
        let port = try port(given, "--page-port")
        guard !given.has("--no-page") else {
            guard port == nil else { throw UsageError("“--page-port” and “--no-page” exclude each other") }
            return nil
        }
        var options = Page.Options()
        options.port = port ?? 0
        return options
    }

    private static func origins(_ given: Options) throws(UsageError) -> Set<String> {
        let all = (given["--origin"] ?? "").split(separator: ",").map(String.init)
        if let wrong = all.first(where: { !ServerVisitors.isOrigin($0) }) {
            throw UsageError(
                "“\(wrong)” is not the origin of a web page; write “--origin https://app.example.com”, without a path")
        }
        return Set(all)
    }

    private static func folder(_ given: Options) -> URL? {
        given["--folder"].map { URL(fileURLWithPath: $0, isDirectory: true) }
    }

    /// Runs until the process is asked to end, and then stops everything it has started. Answered requests have been saved by
    /// then.
    func run() async -> ExitStatus {
        do {
            let firebase = try firebase.map { try LocalFirebase($0) }
            do {
                if supabase != nil {
                    if let firebase { Terminal.print(firebase.summary) }
                    Terminal.print("The local Supabase starts …")
                }
                let supabase = try await startSupabase(beside: firebase)
                do {
                    let servers = servers(firebase, supabase)
                    try await contents.load(into: servers)
                    for server in [firebase?.server, supabase?.server].compactMap({ $0 }) {
                        try EmulatorFaults.add(faults, to: server)
                    }
                    let page = try await page(of: firebase, supabase)
                    let end = EndRequest()
                    if let summary = supabase?.summary ?? firebase?.summary { Terminal.print(summary) }
                    if let url = page?.url { Terminal.print("The page that shows what happens: \(url)") }
                    await end.wait()
                    await page?.stop()
                    for server in [firebase?.server, supabase?.server] { EmulatorFaults.removeAll(from: server) }
                    try await contents.save(servers)
                } catch {
                    await supabase?.stop()
                    throw error
                }
                await supabase?.stop()
                await firebase?.stop()
            } catch {
                await firebase?.stop()
                throw error
            }
            return .success
        } catch {
            Terminal.error("switchyard emulator: \(error)")
            return .failure
        }
    }

    private func servers(_ firebase: LocalFirebase?, _ supabase: LocalSupabase?) -> [EmulatorContents.Server] {
        [
            firebase.map { EmulatorContents.Server($0) },
            supabase.map { EmulatorContents.Server($0, bucket: self.supabase?.buckets.first ?? "files") },
        ].compactMap(\.self)
    }

    /// What shows the requests: a page, or lines alone.
    private struct Showing {
        var url: String?
        let stop: () async -> Void
    }

    /// A page that no one has asked for by its port is no reason not to serve.
    private func page(of firebase: LocalFirebase?, _ supabase: LocalSupabase?) async throws -> Showing? {
        do { return try await startPage(firebase, supabase) } catch {
            guard page?.port == 0, !printsRequests else { throw error }
            Terminal.error(
                "switchyard emulator: there is no page: \((error as? any ClientError)?.message ?? "\(error)")")
            return nil
        }
    }

    private func startPage(_ firebase: LocalFirebase?, _ supabase: LocalSupabase?) async throws -> Showing? {
        let lines = printsRequests ? RequestLines { Terminal.print($0) } : nil
        guard page != nil || lines != nil else { return nil }
        var backends: [PageBackend] = []
        if let firebase { backends.append(try await .local(firebase)) }
        if let supabase { backends.append(try await .local(supabase)) }
        guard var options = page else {
            let follower = lines.map { RequestFollower(backends, $0) }
            return Showing { await follower?.stop() }
        }
        options.lines = lines
        let page = try await Page.started(backends, options)
        return Showing(url: page.url) { await page.stop() }
    }

    private func startSupabase(beside firebase: LocalFirebase?) async throws(LocalSupabaseError) -> LocalSupabase? {
        guard var options = supabase else { return nil }
        if let firebase {
            options.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
        } else if let trusted {
            options.firebase =
                if let url = URL(string: trusted), trusted.includes("://") {
                    try await FirebaseProject(at: url)
                } else {
                    try FirebaseProject(trusted)
                }
        }
        return try await LocalSupabase(options)
    }
}

/// A request to end this process, from the keyboard or by a signal: servers then shut down cleanly.
///
/// Make it after starting other programs, which would otherwise inherit that the signals are ignored.
struct EndRequest {
    private let requests: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]
    private static let signals = [SIGINT, SIGTERM]

    init() {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        self.requests = requests
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns at the first request, or when the task is cancelled; a second request ends the process at once.
    func wait() async {
        for await _ in requests { break }
        for number in Self.signals { signal(number, SIG_DFL) }
        for source in sources { source.cancel() }
    }
}
