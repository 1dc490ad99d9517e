# A Homebrew formula for release @VERSION@.
class Spelunk < Formula
  desc "Ask questions of text too large for any model"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@".delete_prefix("v")
  license any_of: ["MIT", "Apache-2.0"]

  archives = {
    "aarch64-apple-darwin"       => "@SHA256_aarch64-apple-darwin@",
    "aarch64-unknown-linux-musl" => "@SHA256_aarch64-unknown-linux-musl@",
    "x86_64-unknown-linux-musl"  => "@SHA256_x86_64-unknown-linux-musl@",
  }
  system = OS.mac? ? "apple-darwin" : "unknown-linux-musl"
  target = "#{Hardware::CPU.arm? ? "aarch64" : "x86_64"}-#{system}"
  odie "there is no program for #{target}" unless archives.key?(target)

  url "https://github.com/@REPOSITORY@/releases/download/@VERSION@/spelunk-@VERSION@-#{target}.tar.gz"
  sha256 archives[target]

  def install
    bin.install "spelunk"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bash" => "spelunk"
    fish_completion.install "completions/fish" => "spelunk.fish"
    zsh_completion.install "completions/zsh" => "_spelunk"
  end

  test do
    assert_match "spelunk", shell_output("#{bin}/spelunk --version")
  end
end
