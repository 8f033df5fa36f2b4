import Foundation
import Observation
import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Synchronization
import Testing

// What the article on state and screens says about queries without a client, live properties and transfers.

struct Item: Codable, Sendable {
    @DocumentID var id: String
    var name: String
    var shop: String
    var isBought = false
}

extension Item {
    static let all = CollectionPath("items").of(Item.self)
    static let open = all.where { $0.isBought == false && $0.shop.in(["Baker", "Grocer"]) }.ordered(by: \.name)
}

@MainActor @Observable final class Shopping {
    @ObservationIgnored @Live var open: [LiveQuery<Item>.Row]
    @ObservationIgnored @LiveCount<Item> var count: Int

    init(_ backend: Infrastructure) {
        _open = Live(Item.open, in: backend)
        _count = LiveCount(Item.all, in: backend)
    }

    var title: String { "\(open.count) of \(count) to buy" }
    var isUpToDate: Bool { $open.phase == .live }
    func buy(_ row: LiveQuery<Item>.Row) { $open.update(row, \.isBought, to: true) }
}

@Suite final class LivePageTests: Sendable {
    private let shown = Mutex<[String]>([])
    private func show(_ text: String) { shown.withLock { $0.append(text) } }

    @Test func `A model shows what is to buy, and buys it`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let items = backend.storage.collection("items", of: Item.self)
        try await items.add(Item(name: "Milk", shop: "Grocer"))
        try await items.add(Item(name: "Bread", shop: "Baker"))
        try await items.add(Item(name: "Nails", shop: "Smith"))
        let names = try await Item.open.in(backend.storage).documents().map(\.name)
        #expect(names == ["Bread", "Milk"])

        let model = await Shopping(backend)
        try await eventually("the list") { await model.title == "2 of 3 to buy" }
        try await eventually("the server's answer") { await model.isUpToDate }
        await model.buy(model.open[0])
        try await eventually("one less") { await model.title == "1 of 3 to buy" }
        await backend.shutDown()
    }

    @Test func `A screen shows how far a file is`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let photo = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).jpg")
        try Data(repeating: 7, count: 6).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        let upload = try await LiveTransfer(backend.files.upload(.file(photo), to: "photos/a.jpg"))
        try await eventually("the end") { await upload.output != nil }
        let percent = await upload.fraction.map { Int($0 * 100) }
        switch await upload.state {
        case .waiting, .running: show("\(percent ?? 0) %")
        case .paused: await upload.resume()
        case .finished(let file): show("\(file.size) bytes")
        case .failed(let error): show(error.errorDescription ?? "")
        }
        #expect(percent == 100 && shown.withLock { $0 } == ["6 bytes"])
        await backend.shutDown()
    }
}
