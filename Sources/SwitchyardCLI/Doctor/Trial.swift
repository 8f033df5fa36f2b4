import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSupabase

/// Tries a backend as an app uses it: as someone signed out, as a person and as a stranger, with throw-away names.
struct Trial: Sendable {
    let site: DoctorSite
    let findings: Findings
    let options: DoctorOptions
    let configuration: InfrastructureConfiguration
    /// A part of all names of this run.
    let mark = RandomID.make(length: 10).lowercased()

    init(
        _ site: DoctorSite, _ findings: Findings, _ options: DoctorOptions, _ configuration: InfrastructureConfiguration
    ) {
        self.site = site
        self.findings = findings
        self.options = options
        self.configuration = configuration
    }

    struct Person: Sendable {
        let device: DoctorSite.Device
        let user: AuthUser
        /// `nil` for an anonymous account.
        let login: (email: String, password: Secret)?

        var storage: any StorageClient { device.infrastructure.storage }
        var files: any FileStorageClient { device.infrastructure.files }
    }

    struct Cast: Sendable {
        let signedOut: DoctorSite.Device
        let person: Person
        let stranger: Person
    }

    func run() async {
        var devices: [DoctorSite.Device] = []
        var people: [Person] = []
        do throws(InfrastructureError) {
            for _ in 0..<3 { devices.append(try await site.device()) }
        } catch {
            findings.add(.wrong("configuration", error.message, cure: Cure.configuration(error)))
        }
        if devices.count == 3 {
            for (device, name) in zip(devices.dropFirst(), ["person", "stranger"]) where !Task.isCancelled {
                guard let person = await account(on: device, name, isFirst: people.isEmpty) else { break }
                people.append(person)
            }
        }
        if people.count == 2, !Task.isCancelled {
            await tryOut(Cast(signedOut: devices[0], person: people[0], stranger: people[1]))
        }
        // Also after Ctrl-C.
        let (all, made) = (devices, people)
        await Task.detached { await clean(made, devices: all) }.value
    }

    private func tryOut(_ cast: Cast) async {
        await checkClock(cast.person)
        if cast.person.storage.capabilities.openSchema {
            await RuleTrial(self, cast).run()
        } else {
            findings.add(.fine("rules", "no document table: the tables' own policies decide"))
        }
        if let settings = try? configuration.settings(of: SupabaseModule.self), !settings.tables.isEmpty,
            site.selection.provider(for: .storage) == .supabase
        {
            await TableTrial(self, cast, settings).run()
        }
        if site.selection.provider(for: .files) != nil { await FileTrial(self, cast).run() }
        limits(cast.person)
    }

    // MARK: Accounts

    private func account(on device: DoctorSite.Device, _ name: String, isFirst: Bool) async -> Person? {
        let email = "doctor-\(mark)-\(name)@example.com"
        let password = Secret("Doctor-7-\(RandomID.make(length: 16))")
        do {
            let answer = try await within(options.patience) { () async throws -> AuthUser? in
                try await signUp(email, password, on: device)
            }
            guard let answer else {
                findings.add(
                    .wrong("accounts", "the account service does not answer in time", cure: "check the network"))
                return nil
            }
            guard let user = answer else {
                findings.add(
                    .remark(
                        "accounts", "new addresses have to be confirmed, so rules, files and streams are not checked",
                        cure:
                            "add a project credential to the configuration, or switch the confirmation off for the time of this run"
                    ))
                return nil
            }
            if isFirst { findings.add(.fine("accounts", "people can sign up and in")) }
            return Person(device: device, user: user, login: (email, password))
        } catch {
            return await anonymous(on: device, isFirst: isFirst, after: error)
        }
    }

    /// - Returns: `nil` if the address has to be confirmed first.
    private func signUp(
        _ email: String, _ password: Secret, on device: DoctorSite.Device
    ) async throws -> AuthUser? {
        let auth = device.infrastructure.auth
        if case .signedIn(let user) = try await auth.signUp(email: email, password: password) { return user }
        guard let admin = try? await device.infrastructure.admin(),
            let account = try await admin.accounts([.email(email)]).first ?? nil
        else { return nil }
        try await admin.update(account.id, AccountEdit(isEmailVerified: true))
        return try await auth.signIn(email: email, password: password)
    }

    private func anonymous(on device: DoctorSite.Device, isFirst: Bool, after error: any Error) async -> Person? {
        let message = (error as? any ClientError)?.message ?? "\(error)"
        if (error as? AuthError)?.code == .methodDisabled,
            let user = try? await device.infrastructure.auth.signInAnonymously()
        {
            if isFirst { findings.add(.fine("accounts", "people can sign in anonymously, and not by email")) }
            return Person(device: device, user: user, login: nil)
        }
        let cure = Cure.session(message) ?? "allow sign-ups: Authentication, Sign in methods"
        findings.add(.wrong("accounts", message, cure: cure))
        return nil
    }

    /// For servers that do not say what time it is: by the token they have just made.
    private func checkClock(_ person: Person) async {
        guard !findings.list.contains(where: { $0.check == "clock" }),
            let token = try? await person.device.infrastructure.auth.accessToken(),
            let issued = SupabaseProbe.claims(of: token.value.reveal())?["iat"]?.int64
        else { return }
        findings.add(ClockCheck.finding(here: options.now().seconds, there: issued))
    }

    private func limits(_ person: Person) {
        var words: [String] = []
        let documents = person.storage.capabilities
        if let most = documents.maximumBatchSize { words.append("\(most) writes in a batch") }
        if !documents.mixedBatches { words.append("batches of one kind of write in one collection") }
        if site.selection.provider(for: .files) != nil, let most = person.files.capabilities.maximumFileSize {
            words.append("files up to \(ProgressState.short(Double(most), .bytes))")
        }
        findings.add(.fine("limits", words.isEmpty ? "none that the client knows" : words.joined(separator: "; ")))
    }

    // MARK: The end

    private func clean(_ people: [Person], devices: [DoctorSite.Device]) async {
        var left: [String] = []
        for person in people {
            let auth = person.device.infrastructure.auth
            if auth.capabilities.accountDeletion, (try? await auth.deleteAccount()) != nil { continue }
            if let admin = try? await person.device.infrastructure.admin(),
                (try? await admin.delete(person.user.id)) != nil
            {
                continue
            }
            left.append(person.login?.email ?? person.user.id)
        }
        if left.isEmpty {
            if !people.isEmpty { findings.add(.fine("clean-up", "nothing stays behind")) }
        } else {
            findings.add(
                .remark(
                    "clean-up", "\(left.count) accounts stay: \(left.joined(separator: ", "))",
                    cure: "delete them in the dashboard, or add a project credential to the configuration"))
        }
        for device in devices { await device.infrastructure.shutDown() }
    }
}
