import Foundation
import Switchyard
import SwitchyardSupabase

/// Whether a person can upload, read and delete a file of a throw-away name, and who else can read it.
struct FileTrial: Sendable {
    private let trial: Trial
    private let cast: Trial.Cast
    private var findings: Findings { trial.findings }

    init(_ trial: Trial, _ cast: Trial.Cast) {
        self.trial = trial
        self.cast = cast
    }

    private static let contents = Data("switchyard doctor".utf8)

    func run() async {
        let name = "doctor-\(trial.mark).txt"
        let id = cast.person.user.id
        let paths = [FilePath(id, name), FilePath("users", id, name), FilePath("doctor", name)]
        var first: FileStorageError?
        for path in paths {
            guard let error = await upload(to: path) else {
                await look(at: path)
                return
            }
            first = first ?? error
            guard error.code == .unauthorized else { break }
        }
        guard let first else { return }
        findings.add(.wrong("files", first.message, cure: cure(first)))
    }

    private func upload(to path: FilePath) async -> FileStorageError? {
        let files = cast.person.files
        do {
            let stored = try await within(trial.options.patience) {
                try await files.put(Self.contents, at: path, options: UploadOptions(patience: .seconds(5)))
            }
            return stored == nil
                ? FileStorageError(.deadlineExceeded, "the file service does not answer in time") : nil
        } catch {
            return error as? FileStorageError ?? FileStorageError(.unknown, "\(error)")
        }
    }

    private func look(at path: FilePath) async {
        let same = await read(path, on: cast.person.files)
        let stranger = await read(path, on: cast.stranger.files)
        do throws(FileStorageError) {
            try await cast.person.files.delete(path)
        } catch {
            findings.add(.wrong("files", "“\(path)” stays: \(error.message)", cure: cure(error)))
            return
        }
        guard same else {
            findings.add(
                .wrong("files", "what was uploaded cannot be read again", cure: "allow people to read their files"))
            return
        }
        findings.add(
            .fine(
                "files", "a person uploads, reads and deletes; a stranger may \(stranger ? "read it" : "not read it")"))
    }

    private func read(_ path: FilePath, on files: any FileStorageClient) async -> Bool {
        let data = try? await within(trial.options.patience) { try await files.data(at: path) }
        return data == Self.contents
    }

    private func cure(_ error: FileStorageError) -> String {
        guard trial.site.selection.provider(for: .files) == .supabase,
            let settings = try? trial.configuration.settings(of: SupabaseModule.self)
        else {
            return error.code == .unauthorized
                ? "match /{user}/{file} { allow read, write: if request.auth.uid == user; }"
                : "create the bucket, or correct “bucket”: the Firebase console shows its name under Storage"
        }
        let bucket = settings.bucket ?? settings.buckets.first?.name ?? "files"
        let quoted = "'" + bucket.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
        let policy =
            "create policy doctor on storage.objects to authenticated\n"
            + "  using (bucket_id = \(quoted) and owner_id = (select auth.jwt() ->> 'sub'))\n"
            + "  with check (bucket_id = \(quoted) and owner_id = (select auth.jwt() ->> 'sub'));"
        if error.code == .unauthorized { return policy }
        return "insert into storage.buckets (id, name) values (\(quoted), \(quoted)) on conflict do nothing;\n" + policy
    }
}
