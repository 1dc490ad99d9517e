//! SHA-256 as in FIPS 180-4: the sessions identify their outputs by it.

/// The digest in hexadecimal.
pub(crate) fn hex(data: &[u8]) -> String {
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut padded = data.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((data.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block);
    }
    let mut hex = String::new();
    for word in state {
        hex.push_str(&format!("{word:08x}"));
    }
    hex
}

#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for idx in 16..64 {
        let (w15, w2) = (words[idx - 15], words[idx - 2]);
        let s0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3);
        let s1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10);
        words[idx] = words[idx - 16].wrapping_add(s0).wrapping_add(words[idx - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (idx, word) in words.iter().enumerate() {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(constant(idx)).wrapping_add(*word);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(s0.wrapping_add(majority)));
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}

/// The first 32 bits of the fraction of the cube root of a prime.
fn constant(idx: usize) -> u32 {
    let prime =
        (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).nth(idx).unwrap_or(2);
    // The cube root of prime * 2^96, by bisection in 128 bits: its low 32 bits are the fraction.
    let (mut low, mut high) = (0u128, 1u128 << 36);
    let target = u128::from(prime) << 96;
    while low + 1 < high {
        let middle = low.midpoint(high);
        if middle * middle * middle <= target { low = middle } else { high = middle }
    }
    u32::try_from(low & 0xffff_ffff).unwrap_or(0)
}
