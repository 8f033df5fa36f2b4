// What an app writes with SwiftUI and SwitchyardObservation. `.ci/apple` compiles it as a module of its own.
import SwiftUI
import Switchyard
import SwitchyardObservation

struct Item: Codable, Sendable {
    @DocumentID var id: String
    var name: String
    var shop: String
    var isBought = false
}

struct OpenItems: View {
    @Live(CollectionPath("items").of(Item.self).where { !$0.isBought }, animation: .default) var open
    @LiveCount(CollectionPath("items").of(Item.self)) var count
    @LiveValue(StoragePath("items/milk").of(Item.self)) var milk

    var body: some View {
        VStack {
            Text(title)
            List(open) { row in Toggle(row.value.name, isOn: buy(row)) }
            if let error = $open.error { Text(error.message) }
        }
        .refreshable { await $open.refresh() }
    }

    var title: String { "\(open.count) of \(count), \(milk?.name ?? "")" }
    var sections: [LiveSection<String, Item>] { $open.sections(by: \.shop) }
    func buy(_ row: LiveQuery<Item>.Row) -> Binding<Bool> { $open.binding(row, \.isBought) }
    func rename() -> Binding<String> { $milk.binding(\.name, default: "") }
}

/// One whose query depends on the view around it.
struct ItemsOfShop: View {
    @Live<Item> var items: [LiveQuery<Item>.Row]

    init(shop: String) {
        _items = Live(CollectionPath("items").of(Item.self).where { $0.shop == shop }, pageSize: 20)
    }

    var body: some View { List(items) { row in Text(row.value.name) } }
}

@MainActor func screen(_ backend: Infrastructure) -> some View { OpenItems().backend(backend) }
