import Switchyard
import SwitchyardBytes

/// One run: first the accounts, whose IDs the documents need, then documents, then files.
struct Copying: Sendable {
    let move: Move
    let plan: MovePlan
    let journal: MoveJournal
    let throttle: MoveThrottle
    let meter = MoveMeter()
    private static let accountPage = 100

    init(_ move: Move, _ plan: MovePlan, _ journal: MoveJournal, _ throttle: MoveThrottle) {
        self.move = move
        self.plan = plan
        self.journal = journal
        self.throttle = throttle
    }

    func run() async throws(MoveError) -> MoveReport {
        let began = ContinuousClock.now
        meter.change { progress in
            progress.totalAccounts = plan.accounts?.count ?? 0
            progress.totalDocuments = plan.documents
            progress.totalFiles = plan.files?.count ?? 0
            progress.totalFileBytes = plan.files?.bytes ?? 0
            progress.accounts = journal.accounts.items
            progress.documents = journal.documents
            (progress.files, progress.fileBytes) = journal.files
            progress.rejected = journal.rejected.count
        }
        try await during("Preparing \(move.to.name)") { try await move.to.prepare() }
        if let (source, target) = move.both(.accounts, move.from.accounts, move.to.accounts) {
            meter.begin(.accounts)
            try await copyAccounts(source, target)
        }
        let rewriter = IDRewriter(journal.ids, fields: move.options.ownerFields)
        if let (source, target) = move.both(.documents, move.from.documents, move.to.documents) {
            meter.begin(.documents)
            try await DocumentCopy(self, source, target, rewriter).run()
        }
        if let (source, target) = move.both(.files, move.from.files, move.to.files) {
            meter.begin(.files)
            try await FileCopy(self, source, target, rewriter).run()
        }
        meter.begin(nil)
        let files = journal.files
        return MoveReport(
            documents: journal.documents, accounts: journal.accounts.items, files: files.count, fileBytes: files.bytes,
            renamedAccounts: journal.ids.count,
            rejections: journal.rejected.map { Rejection($0.subject, $0.reason) },
            seconds: began.duration(to: .now) / .seconds(1))
    }

    private func copyAccounts(_ source: any MoveAccounts, _ target: any MoveAccounts) async throws(MoveError) {
        while !journal.accounts.isDone {
            let done = journal.accounts
            let page = try await patiently("Reading the accounts of \(move.from.name)") {
                try await source.page(after: done.place, limit: Self.accountPage)
            }
            let number = done.pages + 1
            try await during("Adding accounts") { try await throttle.pass(page.accounts.count) }
            let outcomes = try await patiently("Adding accounts to \(move.to.name)") {
                try await target.add(page.accounts, page: PageName.of(number))
            }
            var (ids, rejections) = ([MoveJournal.NewID](), [Rejection]())
            for (account, outcome) in zip(page.accounts, outcomes) {
                switch outcome {
                case .kept: break
                case .renamed(let id): ids.append(MoveJournal.NewID(from: account.id, to: id))
                case .rejected(let reason): rejections.append(Rejection(account.id, reason))
                }
            }
            try note(rejections, of: .accounts)
            let count = page.accounts.count - rejections.count
            try journal.noteAccounts(number, place: page.place, count: count, ids: ids)
            meter.change { $0.accounts += count }
        }
    }

    func note(_ rejections: [Rejection], of part: MovePart) throws(MoveError) {
        guard !rejections.isEmpty else { return }
        try journal.note(rejections, of: part)
        meter.change { $0.rejected = journal.rejected.count }
    }
}

/// The names of pages, which sort as their numbers.
enum PageName {
    static func of(_ number: Int, range: Int? = nil) -> String {
        (range.map { "\(padded($0, to: 4))-" } ?? "") + padded(number, to: 8)
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
    }
}
