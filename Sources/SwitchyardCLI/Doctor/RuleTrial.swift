import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSupabase

/// Who may read and write a document of a throw-away name; and whether changes arrive on another device.
struct RuleTrial: Sendable {
    private let trial: Trial
    private let cast: Trial.Cast
    private var findings: Findings { trial.findings }
    private var patience: Duration { trial.options.patience }

    init(_ trial: Trial, _ cast: Trial.Cast) {
        self.trial = trial
        self.cast = cast
    }

    func run() async {
        guard let path = await writablePath() else { return }
        await others(path)
        await stream(path)
        if let error = await failure({
            try await acknowledged(cast.person.storage.deleteDocument(path), on: cast.person.storage)
        }) {
            findings.add(.wrong("delete", "“\(path)” stays: \(message(error))", cure: "delete it in the dashboard"))
        }
    }

    /// Waits for the server's answer, or for a reason that waiting will not change.
    private func acknowledged(_ receipt: WriteReceipt, on storage: any StorageClient) async throws {
        let patience = patience
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receipt.acknowledged(within: patience) }
            group.addTask {
                for try await queue in storage.pendingWrites() {
                    let reason = queue.first { $0.id == receipt.batchID }?.lastError
                    if let reason, !reason.isRetryable { throw reason }
                }
                // The answer is on its way.
                try await Task.sleep(for: patience)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func failure(_ work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    private func message(_ error: any Error) -> String { (error as? any ClientError)?.message ?? "\(error)" }

    // MARK: The person

    /// A document that a person may write: of a collection of its own, or else below the person's own document.
    private func writablePath() async -> StoragePath? {
        let name = "doctor-\(trial.mark)"
        let paths = [StoragePath("doctor", name), StoragePath("users", cast.person.user.id, "doctor", name)]
        var first: (any Error)?
        for path in paths {
            let error = await failure {
                try await acknowledged(
                    cast.person.storage.setDocument(path, ["by": "switchyard doctor"]), on: cast.person.storage)
            }
            guard let error else {
                findings.add(.fine("write", "a person writes “\(path.collection)”"))
                return path
            }
            first = first ?? error
            // Another place would not help.
            guard (error as? StorageError)?.code == .unauthorized else { break }
        }
        guard let first else { return nil }
        findings.add(.wrong("write", message(first), cure: cure(first)))
        return nil
    }

    private func cure(_ error: any Error) -> String {
        let text = message(error)
        if let cure = Cure.session(text) { return cure }
        if let problem = (error as? StorageError)?.underlying as? SupabaseSchemaProblem {
            if case .tooNew = problem { return "update the package" }
            return Cure.installation(trial.options.database)
        }
        guard (error as? StorageError)?.code == .unauthorized else { return "see the message" }
        return rule("'owner', 'owner'")
    }

    private func rule(_ rights: String) -> String {
        trial.site.selection.provider(for: .storage) == .supabase
            ? "insert into switchyard.rules (collection_id, read, write) values ('doctor', \(rights))\n"
                + "  on conflict (collection_id) do update set read = excluded.read, write = excluded.write;"
            : "match /doctor/{id} {\n  allow read, update, delete: if request.auth.uid == resource.data.owner;\n"
                + "  allow create: if request.auth.uid == request.resource.data.owner;\n}"
    }

    // MARK: Others

    private func others(_ path: StoragePath) async {
        let signedOut = cast.signedOut.infrastructure.storage
        let stranger = cast.stranger.storage
        let outReads = await reads(path, on: signedOut)
        let strangerReads = await reads(path, on: stranger)
        let outWrites = await writes(path, on: signedOut)
        let strangerWrites = await writes(path, on: stranger)
        func may(_ reads: Bool, _ writes: Bool) -> String {
            switch (reads, writes) {
            case (false, false): "nothing"
            case (true, false): "reads"
            case (false, true): "writes"
            case (true, true): "reads and writes"
            }
        }
        let text =
            "of a person's document, someone signed out may: \(may(outReads, outWrites)); a stranger: "
            + may(strangerReads, strangerWrites)
        if outWrites || strangerWrites {
            findings.add(
                .remark(
                    "rules", text,
                    cure: "-- if “\(path.collection.id)” stands for your collections:\n" + rule("'owner', 'owner'")))
        } else {
            findings.add(.fine("rules", text))
        }
    }

    private func reads(_ path: StoragePath, on storage: any StorageClient) async -> Bool {
        let found = try? await within(patience) { try await storage.document(path, from: .server).exists }
        return found == true
    }

    private func writes(_ path: StoragePath, on storage: any StorageClient) async -> Bool {
        let error = await failure {
            try await acknowledged(storage.mergeDocument(path, ["touched": true]), on: storage)
        }
        return error == nil
    }

    // MARK: Streams

    /// A change on one device of the person must arrive on another.
    private func stream(_ path: StoragePath) async {
        guard let login = cast.person.login else {
            findings.add(.remark("stream", "not checked: an anonymous account has one device"))
            return
        }
        let other = cast.signedOut
        let start = ContinuousClock.now
        do {
            try await other.infrastructure.auth.signIn(email: login.email, password: login.password)
            let duration = try await within(patience) { () async throws -> Duration? in
                try await arrival(of: path, on: other)
            }
            guard let duration = duration ?? nil else {
                findings.add(
                    .wrong(
                        "stream", "no change arrived within \(ContinuousClock.now - start)",
                        cure: "check realtime, and proxies that hold answers back"))
                return
            }
            if let notice = (other.notices.all + cast.person.device.notices.all).first {
                findings.add(Self.finding(for: notice, called: "realtime"))
            } else if duration > .milliseconds(900) {
                findings.add(
                    .remark(
                        "stream", "a change arrives after \(duration.formatted): nothing announces it",
                        cure: "switch realtime on: Project Settings, Realtime"))
            } else {
                findings.add(.fine("stream", "a change arrives on another device after \(duration.formatted)"))
            }
        } catch {
            findings.add(.wrong("stream", message(error), cure: cure(error)))
        }
    }

    private func arrival(of path: StoragePath, on other: DoctorSite.Device) async throws -> Duration? {
        var written: ContinuousClock.Instant?
        for try await snapshot in other.infrastructure.storage.snapshots(of: path) {
            guard !snapshot.metadata.isFromCache else { continue }
            if let written, snapshot["step"] == 2 { return ContinuousClock.now - written }
            guard written == nil else { continue }
            written = ContinuousClock.now
            try await acknowledged(
                cast.person.storage.mergeDocument(path, ["step": 2]), on: cast.person.storage)
        }
        return nil
    }

    /// A notice often has a statement to run.
    static func finding(for notice: String, called check: String) -> Finding {
        var cure: String?
        for opening in ["Run “", "“select"] {
            guard let rest = notice.part(after: opening) else { continue }
            let statement = rest.prefix { $0 != "”" }
            cure = opening == "Run “" ? String(statement) : "select\(statement)"
            break
        }
        return .remark(check, notice, cure: cure ?? "switch realtime on: Project Settings, Realtime")
    }
}
