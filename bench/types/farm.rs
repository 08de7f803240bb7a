// SPDX-License-Identifier: MIT
//! A program of types_perf.py: enums with data, boxes, trees, maps and trait objects.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

#[derive(Clone, Debug)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Debug)]
enum Animal {
    Cow { milk: u64, at: Point },
    Hen(u32),
    Herd(Vec<Animal>),
    Nothing,
}

struct Tree {
    key: u64,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
    owner: Rc<RefCell<Owner>>,
}

struct Owner {
    name: String,
    hits: u64,
    fields: [Point; 4],
}

trait Work {
    fn run(&mut self, step: u64) -> u64;
}

struct Milking {
    animals: Vec<Animal>,
    total: u64,
}

struct Counting {
    by_name: HashMap<String, (u64, Point)>,
    by_size: BTreeMap<u64, u32>,
}

impl Tree {
    #[inline(never)]
    fn insert(&mut self, key: u64, owner: &Rc<RefCell<Owner>>) {
        let side = if key < self.key { &mut self.left } else { &mut self.right };
        match side {
            Some(tree) => tree.insert(key, owner),
            None => *side = Some(Box::new(Tree { key, left: None, right: None, owner: owner.clone() })),
        }
    }
    #[inline(never)]
    fn find(&self, key: u64) -> Option<&Tree> {
        let mut at = self;
        while at.key != key {
            at = if key < at.key { at.left.as_deref()? } else { at.right.as_deref()? };
        }
        Some(at)
    }
}

#[inline(never)]
fn milk(animals: &mut [Animal]) -> u64 {
    let mut sum = 0;
    for animal in animals {
        sum += match animal {
            Animal::Cow { milk, at } => {
                at.x += 0.5;
                at.y += at.x;
                *milk += 1;
                *milk
            }
            Animal::Hen(eggs) => u64::from(*eggs),
            Animal::Herd(more) => milk(more),
            Animal::Nothing => 0,
        };
    }
    sum
}

impl Work for Milking {
    #[inline(never)]
    fn run(&mut self, step: u64) -> u64 {
        self.total += milk(&mut self.animals) + step;
        if step % 16 == 0 {
            self.animals.push(if step % 32 == 0 { Animal::Hen(step as u32) } else { Animal::Nothing });
        }
        self.total
    }
}

impl Work for Counting {
    #[inline(never)]
    fn run(&mut self, step: u64) -> u64 {
        let entry = self.by_name.entry(format!("name {}", step % 20)).or_insert((0, Point { x: 0.0, y: 1.0 }));
        entry.0 += step;
        entry.1.x += 1.0;
        *self.by_size.entry(step % 64).or_insert(0) += 1;
        entry.0
    }
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(200, |text| text.parse().unwrap());
    let owner = Rc::new(RefCell::new(Owner {
        name: "owner".to_string(),
        hits: 0,
        fields: [(); 4].map(|()| Point { x: 1.0, y: 2.0 }),
    }));
    let mut tree = Tree { key: 1 << 31, left: None, right: None, owner: owner.clone() };
    let cow = Animal::Cow { milk: 1, at: Point { x: 1.0, y: 2.0 } };
    let herd = vec![cow.clone(), Animal::Hen(3), Animal::Herd(vec![cow, Animal::Nothing])];
    let mut works: Vec<Box<dyn Work>> = vec![
        Box::new(Milking { animals: herd, total: 0 }),
        Box::new(Counting { by_name: HashMap::new(), by_size: BTreeMap::new() }),
    ];
    let (mut key, mut sum) = (1u64, 0u64);
    for step in 0..rounds {
        key = key * 1103515245 % (1 << 32) + 12345;
        tree.insert(key, &owner);
        for work in &mut works {
            sum = sum.wrapping_add(work.run(step));
        }
        if let Some(found) = tree.find(key) {
            let mut owner = found.owner.borrow_mut();
            owner.hits += 1;
            owner.fields[(step % 4) as usize].x += 1.0;
        }
    }
    let owner = owner.borrow();
    println!("{} {} {} {}", sum, owner.name, owner.hits, owner.fields[1].x + owner.fields[2].y);
}
