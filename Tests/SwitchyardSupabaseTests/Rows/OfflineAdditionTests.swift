import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Rows under keys that the database makes, added without a connection.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct OfflineAdditionTests {
    struct Task: Codable, Equatable, Sendable {
        @DocumentID var id: Int
        var title: String
        var n = 0
    }

    struct Step: Codable, Equatable, Sendable {
        @DocumentID var id: UUID
        var task: StoragePath
        var text: String
    }

    static let mappings: [SupabaseTableMapping] = {
        var tasks = SupabaseTableMapping(collection: "tasks", table: "tasks", columns: ["title", "n"])
        tasks.generatesIDs = true
        tasks.witnessColumn = "token"
        var steps = SupabaseTableMapping(collection: "steps", table: "steps", columns: ["task", "text"])
        steps.columnTypes = ["id": .uuid]
        steps.references = ["task": "tasks"]
        return [tasks, steps]
    }()

    private func withSite(_ body: (TablesSite) async throws -> Void) async throws {
        let site = try await TablesSite()
        try await site.run(
            """
            create table public.tasks (
              id bigint generated always as identity (start with 41) primary key, title text not null unique,
              n int not null default 0, token uuid unique);
            create table public.steps (
              id uuid primary key, task bigint not null references public.tasks on delete cascade, text text not null);
            grant all on public.tasks, public.steps to authenticated;
            """)
        try await body(site)
        await site.supabase.stop()
    }

    private static func isAddition(_ request: ServerRequest) -> Bool {
        request.method == .post && request.rawPath.hasPrefix("/rest/v1/tasks")
    }

    private func rows(_ site: TablesSite) async throws -> String {
        try await site.text(
            """
            select coalesce(string_agg(t.id || ':' || t.title || t.n || coalesce('/' || s.text, ''), ' ' order by t.id), '')
              from public.tasks t left join public.steps s on s.task = t.id
            """) ?? ""
    }

    @Test func `Rows added, edited, referred to and deleted offline are in the table, under its keys`() async throws {
        try await withSite { site in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("additions-\(UUID())")
            defer { try? FileManager.default.removeItem(at: folder) }
            var storage = try await site.storage(Self.mappings, stateFolder: folder)
            _ = try await storage.documents(Query(in: "tasks"), from: .server)
            try await storage.disableNetwork()
            let tasks = storage.collection("tasks", of: Task.self)
            let (milk, receipt) = try await tasks.addWithReceipt(Task(id: DocumentID(0), title: "Milk"))
            #expect(receipt.added == nil)
            let shown = try #require(try await milk.get())
            #expect(shown.id < 0 && shown.title == "Milk", "a number that the table does not count to")
            #expect(tasks.document(shown.id).path == milk.path)
            let bread = try await tasks.add(Task(id: DocumentID(0), title: "Bread"))
            let eggs = try await tasks.add(Task(id: DocumentID(0), title: "Eggs"))
            try await milk.update(["n": .increment(7)])
            try await storage.collection("steps", of: Step.self).add(
                Step(id: DocumentID(UUID()), task: milk.path, text: "cold"))
            try await bread.delete()
            #expect(try await tasks.ordered(by: \.title).documents().map(\.title) == ["Eggs", "Milk"])
            #expect(
                try await storage.documents(Query(in: "steps").where("task", .equal, milk.path)).documents.count == 1)
            await storage.shutDown()

            // The app is started again.
            storage = try await site.storage(Self.mappings, stateFolder: folder)
            try await storage.waitForPendingWrites()
            #expect(try await rows(site) == "41:Milk7/cold 43:Eggs0")
            let again = try await storage.document(milk.path, from: .server)
            #expect(again.path == "tasks/41" && again["n"]?.integerValue == 7)
            #expect(try await storage.document(eggs.path, from: .cache).path == "tasks/43")
            let steps = try await storage.documents(Query(in: "steps").where("task", .equal, milk.path), from: .server)
            #expect(steps.documents.map { $0["task"] } == [StoragePath("tasks/41").documentValue])
            #expect(try await storage.document(bread.path, from: .server).exists == false)
            try await storage.updateDocument(milk.path, ["title": "Oat milk"]).acknowledged()
            try await storage.transaction { transaction in
                let n = try await transaction.document(milk.path)["n"]?.integerValue ?? 0
                try await transaction.update(milk.path, ["n": .value(.integer(n + 1))])
            }
            #expect(try await rows(site) == "41:Oat milk8/cold 43:Eggs0")
            await storage.shutDown()
        }
    }

    @Test func `Open listeners follow a row to its key`() async throws {
        try await withSite { site in
            let storage = try await site.storage(Self.mappings)
            try await storage.disableNetwork()
            let path = try await storage.addDocument(to: "tasks", ["title": "Milk"])
            let document = Followed(storage.snapshots(of: path)) { $0 }
            let list = Followed(storage.snapshots(of: Query(in: "tasks"))) { $0.documents.map(\.id) }
            try await eventually("the row is shown") { document.newest?.exists == true && list.newest == [path.id] }
            try await storage.enableNetwork()
            try await eventually("the row has its key") {
                document.newest?.path == "tasks/41" && document.newest?.metadata.isFromCache == false
                    && list.newest == ["41"]
            }
            try await site.run("update public.tasks set n = 9")
            try await eventually("an edit by somebody else") { document.newest?["n"]?.integerValue == 9 }
            #expect(list.seen.dropFirst().allSatisfy { !$0.isEmpty }, "there is no gap: \(list.seen)")
            try await storage.deleteDocument(path).acknowledged()
            try await eventually("the row is gone") {
                document.newest.map { !$0.exists && $0.path == "tasks/41" } ?? false && list.newest == []
            }
            document.leave()
            list.leave()
            await storage.shutDown()
        }
    }

    @Test(arguments: [true, false])
    func `While its answer is late or lost, a row that others can see already is shown once`(_ isLost: Bool)
        async throws
    {
        try await withSite { site in
            let storage = try await site.storage(Self.mappings)
            let list = Followed(storage.snapshots(of: Query(in: "tasks"))) {
                $0.documents.map { "\($0.id)\($0["n"] ?? 0)" }
            }
            try await eventually("the list is there") { list.newest == [] }
            let gate = Gate()
            let faults = site.supabase.faults
            if isLost {
                faults.add(.dropAnswer(reset: true), times: 1) { Self.isAddition($0) }
                // And then nothing can be found out for a while.
                faults.add(.holdRequest(gate), times: 1) { $0.method == .get && $0.target.contains("token=eq") }
            } else {
                faults.add(.holdAnswer(gate), times: 1) { Self.isAddition($0) }
            }
            let (document, receipt) = try await storage.collection("tasks").addWithReceipt(["title": "Milk", "n": 1])
            try await eventually("the row is in the table") { try await rows(site) == "41:Milk1" }
            try await site.run("update public.tasks set n = 2; insert into public.tasks (title, n) values ('Bread', 3)")
            try await eventually("another row is shown") { list.newest?.contains { $0.hasPrefix("42") } == true }
            #expect(list.newest?.count == 2 && list.newest?.contains { $0.hasPrefix(document.id) } == true)
            #expect(try await storage.documents(Query(in: "tasks"), from: .server).documents.count == 2)
            gate.open()
            #expect(try await receipt.acknowledged().added == "tasks/41")
            try await eventually("the row is shown as it is") { list.newest?.contains { $0.hasPrefix("41") } == true }
            #expect(list.seen.allSatisfy { $0.count <= 2 }, "\(list.seen)")
            list.leave()
            await storage.shutDown()
        }
    }

    /// The answer is cut off at every so many bytes, and the process ends before it is asked for again.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `An addition whose answer is cut off anywhere is there once, also for the next process`(_ isRestarted: Bool)
        async throws
    {
        try await withSite { site in
            let step = RunSize.full(23, part: 90)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("additions-\(UUID())")
            defer { try? FileManager.default.removeItem(at: folder) }
            var storage = try await site.storage(Self.mappings, stateFolder: folder)
            var (count, isCut) = (0, true)
            while isCut {
                let faults = site.supabase.faults
                let rule = faults.add(.cutAnswer(after: count * step, reset: count.isMultiple(of: 2)), times: 1) {
                    Self.isAddition($0)
                }
                let (document, receipt) = try await storage.collection("tasks").addWithReceipt([
                    "title": .of("task \(count)"), "n": 1,
                ])
                try await document.update(["n": 2])
                if isRestarted {
                    try await eventually("it is sent") { faults.strikes(of: rule) > 0 }
                    await storage.shutDown()
                    storage = try await site.storage(Self.mappings, stateFolder: folder)
                } else {
                    let path = try #require(try await receipt.acknowledged().added)
                    #expect(try await document.get(from: .server).path == path)
                }
                try await storage.waitForPendingWrites()
                let found = try await site.text(
                    "select string_agg(n::text, ' ') from public.tasks where title = 'task \(count)'")
                #expect(found == "2", "\(count * step) bytes")
                faults.remove(rule)
                count += 1
                // Answers have some hundred bytes.
                isCut = count * step < 700
            }
            let refused = try #require(try await storage.refusedWrites().first { _ in true })
            #expect(refused.isEmpty, "\(refused.map { "\($0.batch.writes) \($0.error)" })")
            await storage.shutDown()
        }
    }

    @Test func `A row that is already taken is rejected with what depends on it, and the reason is told`() async throws
    {
        try await withSite { site in
            try await site.run("insert into public.tasks (title) values ('Milk')")
            let storage = try await site.storage(Self.mappings)
            try await storage.disableNetwork()
            let (milk, receipt) = try await storage.collection("tasks").addWithReceipt(["title": "Milk"])
            let edit = try await storage.commit(WriteBatch([try .update(milk.path, ["n": 3])]))
            let step = StoragePath(unchecked: "steps/\(UUID().uuidString.lowercased())")
            let reference = try await storage.setDocument(step, ["task": .of(milk.path), "text": "cold"])
            let other = try await storage.collection("tasks").addWithReceipt(["title": "Bread"]).receipt
            try await storage.enableNetwork()
            #expect(try await other.acknowledged().added != nil)
            for (receipt, word) in [(receipt, "title"), (edit, "which it changes"), (reference, "to which it refers")] {
                let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
                #expect(
                    error?.code == .failedPrecondition && error?.message.contains(word) == true,
                    "\(error?.message ?? "")")
            }
            let rejected = try #require(try await storage.refusedWrites().first { _ in true })
            #expect(rejected.map { $0.batch.writes[0].path } == [milk.path, milk.path, step])
            #expect(
                try await storage.documents(Query(in: "tasks"), from: .cache).documents.map { $0["title"] } == ["Bread"]
            )
            // With another title, it goes, and then what depends on it.
            try await storage.resolveRefusedWrite(
                rejected[0].id, requeuing: WriteBatch([try .create(milk.path, ["title": "More milk"])]))
            for write in rejected.dropFirst() {
                try await storage.resolveRefusedWrite(write.id, requeuing: write.batch)
            }
            try await storage.waitForPendingWrites()
            #expect(try await rows(site).contains("More milk3/cold"))
            await storage.shutDown()
        }
    }

    @Test func `A row that may be added but not read is reported as that, and never added twice`() async throws {
        try await withSite { site in
            try await site.run(
                """
                alter table public.tasks enable row level security;
                create policy add on public.tasks for insert to authenticated with check (true);
                create policy see on public.tasks for select to authenticated using (title <> 'Secret');
                """)
            let storage = try await site.storage(Self.mappings)
            let error = await #expect(throws: StorageError.self) {
                try await storage.collection("tasks").addWithReceipt(["title": "Secret"]).receipt.acknowledged()
            }
            #expect(error?.code == .unauthorized)
            #expect(try await rows(site) == "")
            await storage.shutDown()
        }
    }
}

/// What a stream has shown.
private final class Followed<Shown: Sendable>: Sendable {
    private let shown = Mutex<[Shown]>([])
    private let task = Mutex<_Concurrency.Task<Void, Never>?>(nil)

    init<Element: Sendable>(
        _ stream: SnapshotStream<Element, StorageError>, _ show: @escaping @Sendable (Element) -> Shown
    ) {
        let reading = _Concurrency.Task { [weak self] in
            do throws(StorageError) {
                for try await element in stream { self?.take(show(element)) }
            } catch {
                Issue.record("the stream ended: \(error)")
            }
        }
        task.withLock { $0 = reading }
    }

    var seen: [Shown] { shown.withLock { $0 } }
    var newest: Shown? { seen.last }
    func leave() { task.withLock { $0 }?.cancel() }
    private func take(_ element: Shown) { shown.withLock { $0.append(element) } }
}
