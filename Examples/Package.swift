// swift-tools-version: 6.3
import PackageDescription

/// Programs as users write them: they use only the products of the parent package.
let package = Package(
    name: "SwitchyardExamples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Switchyard", path: "..")],
    targets: [
        .executableTarget(
            name: "QuickStart", dependencies: [.switchyard("Switchyard"), .switchyard("SwitchyardMock")],
            path: "QuickStart"),
        .executableTarget(
            name: "FromConfiguration",
            dependencies: [
                .switchyard("Switchyard"), .switchyard("SwitchyardFirebase"), .switchyard("SwitchyardSupabase"),
                .switchyard("SwitchyardMock"),
            ], path: "FromConfiguration", exclude: ["switchyard.json"]),
        // The servers that the larger examples run on.
        .target(
            name: "LocalProjects",
            dependencies: [
                .switchyard("Switchyard"), .switchyard("SwitchyardMock"), .switchyard("SwitchyardFirebase"),
                .switchyard("SwitchyardSupabase"), .switchyard("SwitchyardLocalFirebase"),
                .switchyard("SwitchyardLocalSupabase"),
            ], path: "LocalProjects"),
        .target(name: "LifeSignalStory", dependencies: [.switchyard("Switchyard")], path: "LifeSignal/Story"),
        .executableTarget(
            name: "LifeSignal",
            dependencies: ["LifeSignalStory", "LocalProjects", .switchyard("Switchyard")],
            path: "LifeSignal/Program"),
        .executableTarget(
            name: "MixedBackends", dependencies: ["LocalProjects", .switchyard("Switchyard")],
            path: "MixedBackends"),
        .executableTarget(
            name: "Move",
            dependencies: [
                .switchyard("Switchyard"), .switchyard("SwitchyardMove"), .switchyard("SwitchyardFirebase"),
                .switchyard("SwitchyardLocalFirebase"), .switchyard("SwitchyardMock"),
            ], path: "Move"),
        .executableTarget(
            name: "ServerSide", dependencies: ["LocalProjects", .switchyard("Switchyard")], path: "ServerSide"),
        .executableTarget(
            name: "CustomProvider",
            dependencies: [.switchyard("Switchyard"), .switchyard("SwitchyardConformance")], path: "CustomProvider"),
        .executableTarget(
            name: "OfflineProvider",
            dependencies: [
                .switchyard("Switchyard"), .switchyard("SwitchyardSync"), .switchyard("SwitchyardProviderKit"),
                .switchyard("SwitchyardConformance"),
            ], path: "OfflineProvider"),
    ],
    swiftLanguageModes: [.v6]
)

/// `SWITCHYARD_STRICT=1` makes every warning an error, as in the parent package.
let isStrict = Context.environment["SWITCHYARD_STRICT"] == "1"

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    ]
    if isStrict { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}

extension Target.Dependency {
    static func switchyard(_ product: String) -> Target.Dependency { .product(name: product, package: "Switchyard") }
}
